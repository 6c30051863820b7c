// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.StringJoiner;

/**
 * VirtualHolds TURNS: a thread leaves Object.wait, by a notify or a timeout, and holds the monitor for some time, while another thread is
 * blocked on it. Prints, for each turn, when it owned the monitor again, when it released it, and when the other thread got it.
 */
public final class VirtualHolds {
  private static final long HOLD = 10_000_000;

  private final StringJoiner turns = new StringJoiner(",");
  private boolean woken; // guarded by this
  private volatile int holding;
  private volatile int done;
  private volatile long returned;
  private volatile long released;
  private volatile long got;

  private VirtualHolds() {}

  public static void main(String[] args) throws Exception {
    StringJoiner results = new StringJoiner(",", "{\"cases\":[", "]}");
    for (int i = 0; i < 8; i++) {
      results.add(new VirtualHolds().run(Integer.parseInt(args[0]), i % 2 == 1, i / 2 % 2 == 1, i > 3));
    }
    System.out.println(results);
  }

  private String run(int count, boolean virtual, boolean virtualOther, boolean timeout) throws Exception {
    Thread other = Kinds.thread(virtualOther, "other", () -> others(count));
    Thread holder = Kinds.thread(virtual, "holder", () -> holds(count, timeout, virtualOther, other));
    holder.start();
    other.start();
    for (int turn = 1; !timeout && turn <= count; turn++) {
      Probe.until(() -> holder.getState() == Thread.State.WAITING);
      notifyWaiter();
      int last = turn;
      Probe.until(() -> done == last); // or it would be blocked, too, and might get the monitor first
    }
    holder.join();
    other.join();
    return String.format(
        "{\"virtual\":%b,\"virtualOther\":%b,\"timeout\":%b,\"holder\":%s,\"other\":%s,\"turns\":[%s]}",
        virtual, virtualOther, timeout, Probe.id(holder), Probe.id(other), turns);
  }

  private void notifyWaiter() {
    synchronized (this) {
      woken = true;
      notify();
    }
  }

  private void holds(int count, boolean timeout, boolean virtualOther, Thread other) throws InterruptedException {
    for (int turn = 1; turn <= count; turn++) {
      synchronized (this) {
        if (timeout) {
          wait(2);
        } else {
          for (woken = false; !woken; ) wait();
        }
        returned = Probe.now();
        holding = turn;
        if (virtualOther) Probe.until(() -> other.getState() == Thread.State.BLOCKED);
        else Blocked.await(this, other); // a platform thread is BLOCKED before the JVM reports it
        while (Probe.now() < returned + HOLD) Thread.onSpinWait();
        released = Probe.now();
      }
      int last = turn;
      Probe.until(() -> done == last);
      turns.add("[" + returned + "," + released + "," + got + "]");
    }
  }

  private void others(int count) {
    for (int turn = 1; turn <= count; turn++) {
      int next = turn;
      Probe.until(() -> holding == next);
      synchronized (this) {
        got = Probe.now();
      }
      done = turn;
    }
  }
}
