// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Deadlock [MILLIS]: two threads wait for each other's lock. The program ends after some time, or must be killed. */
public final class Deadlock {
  private static final class Left {}

  private static final class Right {}

  private static volatile int ready;

  private Deadlock() {}

  public static void main(String[] args) throws InterruptedException {
    Left left = new Left();
    Right right = new Right();
    Thread one = Probe.thread(() -> hold(left, right, 0), "left-right");
    Thread two = Probe.thread(() -> hold(right, left, 1), "right-left");
    one.start();
    two.start();
    Blocked.await(right, one);
    Blocked.await(left, two);
    System.out.printf("{\"deadlocked\":[%s,%s]}%n", Probe.id(one), Probe.id(two));
    one.join(args.length > 0 ? Long.parseLong(args[0]) : 0);
    System.exit(0);
  }

  private static void hold(Object first, Object second, int turn) {
    Probe.until(() -> ready == turn);
    synchronized (first) {
      ready = turn + 1;
      Probe.until(() -> ready == 2);
      synchronized (second) {
        throw new IllegalStateException("no deadlock");
      }
    }
  }
}
