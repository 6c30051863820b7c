// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.prices;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a request needs: an answer that takes a while, one of a few connections for a moment, and two short critical sections. The first
 * requests wait until there are enough of them.
 */
final class Backends {
  private static final int CONNECTIONS = 64;

  private final CountDownLatch together;
  private final ScheduledExecutorService network =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "network"));
  private final Semaphore connections = new Semaphore(CONNECTIONS);
  private final ReentrantLock cache = new ReentrantLock();
  private final int[] hits = new int[16];
  private int inside;
  private int most;

  Backends(int together) {
    this.together = new CountDownLatch(together);
  }

  /** Returns the square of a number, as if another service had computed it. */
  int square(int number, int millis) throws InterruptedException, ExecutionException {
    enter();
    try {
      together.countDown();
      together.await();
      CompletableFuture<Integer> answer = new CompletableFuture<>();
      network.schedule(() -> answer.complete(number * number), millis, TimeUnit.MILLISECONDS);
      int square = answer.get();
      connections.acquire();
      try {
        note(number);
      } finally {
        connections.release();
      }
      return square;
    } finally {
      leave();
    }
  }

  private void note(int number) {
    cache.lock();
    try {
      hits[number % hits.length]++;
    } finally {
      cache.unlock();
    }
  }

  private synchronized void enter() {
    most = Math.max(most, ++inside);
  }

  private synchronized void leave() {
    inside--;
  }

  /** Returns how many requests there were at once at most, and all hits. */
  synchronized String counts() {
    cache.lock();
    try {
      int sum = 0;
      for (int n : hits) {
        sum += n;
      }
      return most + " " + sum;
    } finally {
      cache.unlock();
    }
  }
}
