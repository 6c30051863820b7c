// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/**
 * Two players hand a lock to each other exactly N times: the owner of the ball releases it only when the other is blocked on it, and
 * tries to acquire it again only when the other owns it.
 */
public final class PingPong {
  private static final class Ball {}

  private final Ball ball = new Ball();
  private final int handoffs;
  private final long[][] holds;
  private final Thread[] players = new Thread[2];
  private volatile int turn = -1; // number of the entry that owns the ball

  private PingPong(int handoffs) {
    this.handoffs = handoffs;
    this.holds = new long[handoffs + 1][2];
  }

  public static void main(String[] args) throws InterruptedException {
    PingPong game = new PingPong(Probe.argument(args, 200));
    game.players[0] = Probe.thread(() -> game.play(0), "ping");
    game.players[1] = Probe.thread(() -> game.play(1), "pong");
    for (Thread player : game.players) {
      player.start();
    }
    for (Thread player : game.players) {
      player.join();
    }
    List<String> holds = new ArrayList<>();
    for (long[] hold : game.holds) {
      holds.add("[" + hold[0] + "," + hold[1] + "]");
    }
    System.out.printf(
        "{\"handoffs\":%d,\"lock\":\"%s\",\"players\":%s,\"holds\":[%s]}%n",
        game.handoffs, Ball.class.getName(), Probe.ids(List.of(game.players)), String.join(",", holds));
  }

  /** Performs the entries me, me + 2, me + 4, ... */
  private void play(int me) {
    Thread other = players[1 - me];
    for (int i = me; i <= handoffs; i += 2) {
      int entry = i;
      Probe.until(() -> turn == entry - 1);
      synchronized (ball) {
        holds[entry][0] = Probe.now();
        turn = entry;
        if (entry < handoffs) {
          Blocked.await(ball, other);
        }
        holds[entry][1] = Probe.now();
      }
    }
  }
}
