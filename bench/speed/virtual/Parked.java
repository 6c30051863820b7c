// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Parked THREADS: has so many virtual threads parked, prints a line, and ends with its input. */
public final class Parked {
  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[0]);
    CountDownLatch begun = new CountDownLatch(threads);
    Thread[] all = new Thread[threads];
    for (int i = 0; i < threads; i++) {
      all[i] =
          Thread.ofVirtual()
              .start(
                  () -> {
                    begun.countDown();
                    while (true) LockSupport.park();
                  });
    }
    begun.await();
    for (Thread thread : all) {
      while (thread.getState() != Thread.State.WAITING) Thread.onSpinWait();
    }
    System.gc();
    System.out.println("parked");
    while (System.in.read() != -1) {}
    if (all[threads - 1].getState() != Thread.State.WAITING) System.exit(1); // they were all reachable until now
    System.exit(0);
  }
}
