// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/**
 * Starts more workers than there are processors and joins each, again and again for a number of milliseconds: windows end within joins of
 * workers that run, have ended, or have not started.
 */
public final class Joins {
  private static final long WORK = 500_000;

  private Joins() {}

  public static void main(String[] args) throws InterruptedException {
    long end = System.nanoTime() + Probe.argument(args, 10_000) * 1_000_000L;
    int workers = 8 * Runtime.getRuntime().availableProcessors();
    while (System.nanoTime() < end) {
      List<Thread> started = new ArrayList<>();
      for (int i = 0; i < workers; i++) {
        Thread worker = new Thread(Joins::work, "worker-" + i);
        worker.start();
        started.add(worker);
      }
      for (int i = workers - 1; i >= 0; i--) {
        started.get(i).join();
      }
    }
  }

  private static void work() {
    long end = System.nanoTime() + WORK;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
