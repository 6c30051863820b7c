// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;

/**
 * Runs until it has input on standard input: two players hand a lock to each other about a hundred times a second, and the main thread
 * prints the count ten times a second and at the end.
 */
public final class Idle {
  private static final class Ball {}

  private static final Ball BALL = new Ball();
  private static final Thread[] PLAYERS = new Thread[2];
  private static volatile int turn = -1;
  private static volatile int last = Integer.MAX_VALUE;

  private Idle() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    for (int i = 0; i < 2; i++) {
      int me = i;
      PLAYERS[i] = new Thread(() -> play(me), i == 0 ? "tick" : "tock");
    }
    for (Thread player : PLAYERS) {
      player.start();
    }
    while (System.in.available() == 0) {
      System.out.println("count " + turn);
      Thread.sleep(100);
    }
    last = turn + 2;
    for (Thread player : PLAYERS) {
      player.join();
    }
    System.out.printf(
        "{\"handoffs\":%d,\"lock\":\"%s\",\"players\":%s}%n", turn, Ball.class.getName(), Probe.ids(java.util.List.of(PLAYERS)));
  }

  private static void play(int me) {
    for (int i = me; i <= last; i += 2) {
      int entry = i;
      while (turn != entry - 1) {
        pause(1);
      }
      synchronized (BALL) {
        turn = entry;
        pause(5);
        if (entry < last) {
          Blocked.await(BALL, PLAYERS[1 - me]);
        }
      }
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
