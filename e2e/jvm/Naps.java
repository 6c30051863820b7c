// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Has threads sleep for a moment, again and again, and prints how often they did. It ends when its input does. */
public final class Naps {
  private final long end;
  private final long[] naps;

  private Naps(int threads, int seconds) {
    naps = new long[threads];
    end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
  }

  public static void main(String[] args) throws Exception {
    new Naps(Integer.parseInt(args[0]), Integer.parseInt(args[1])).run();
    while (System.in.read() >= 0) {
      continue;
    }
  }

  private void run() throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < naps.length; i++) {
      int mine = i;
      threads.add(new Thread(() -> nap(mine), "nap-" + i));
    }
    threads.forEach(Thread::start);
    long sum = 0;
    for (Thread thread : threads) {
      thread.join();
    }
    for (long n : naps) {
      sum += n;
    }
    System.out.printf("{\"threads\":%d,\"naps\":%d}%n", naps.length, sum);
  }

  private void nap(int mine) {
    try {
      while (System.nanoTime() < end) {
        Thread.sleep(1);
        naps[mine]++;
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
