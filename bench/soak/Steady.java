// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that sleep, wait for a monitor and for a lock, and start short-lived threads, until its input ends. */
public final class Steady {
  private static final int WORKERS = 16;

  private static final Object MONITOR = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static volatile boolean over;

  private Steady() {}

  public static void main(String[] args) throws Exception {
    Thread[] workers = new Thread[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
      workers[i] = new Thread(Steady::work, "worker-" + i);
      workers[i].start();
    }
    while (System.in.read() >= 0) {
      // Lines do not matter.
    }
    over = true;
    for (Thread worker : workers) {
      worker.join();
    }
  }

  private static void work() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    try {
      while (!over) {
        Thread.sleep(0, random.nextInt(500_000));
        synchronized (MONITOR) {
          hold(random);
        }
        LOCK.lock();
        try {
          hold(random);
        } finally {
          LOCK.unlock();
        }
        if (random.nextInt(1000) == 0) {
          Thread child = new Thread(() -> hold(ThreadLocalRandom.current()), "child");
          child.start();
          child.join();
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("unexpected interrupt", e);
    }
  }

  private static void hold(ThreadLocalRandom random) {
    for (long end = System.nanoTime() + random.nextInt(20_000); System.nanoTime() < end; ) {
      Thread.onSpinWait();
    }
  }
}
