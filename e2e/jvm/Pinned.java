// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/**
 * Pinned COUNT MILLIS: a virtual thread waits COUNT times for MILLIS in a class initializer, which it cannot leave for another thread, and
 * as often outside of it. Prints how long it kept its carrier.
 */
public final class Pinned {
  private static int count;
  private static long nanos;
  private static volatile long kept;

  private Pinned() {}

  private static final class Initialized {
    static final int DONE = waits();

    private static int waits() {
      for (int i = 0; i < count; i++) {
        long start = System.nanoTime();
        LockSupport.parkNanos(nanos);
        kept += System.nanoTime() - start;
      }
      return count;
    }
  }

  private static void run() {
    for (int i = 0; i < count; i++) LockSupport.parkNanos(nanos);
    if (Initialized.DONE != count) throw new AssertionError();
  }

  public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
    count = Integer.parseInt(args[0]);
    nanos = Long.parseLong(args[1]) * 1_000_000;
    Runnable body = Pinned::run;
    Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body); // for compilers that lack it
    thread.join();
    System.out.printf("{\"count\":%d,\"kept\":%d}%n", count, kept);
  }
}
