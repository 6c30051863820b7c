// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.quotes;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** The prices, which a feed loads anew again and again. All readers wait for it, although a few names change. */
final class Prices {
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Integer> byName = new HashMap<>();
  private final AtomicLong waited = new AtomicLong(); // nanoseconds

  /** Returns a price. Event loops call it. */
  int of(String name) {
    if (!lock.tryLock()) {
      long called = System.nanoTime();
      lock.lock();
      waited.addAndGet(System.nanoTime() - called);
    }
    try {
      return byName.getOrDefault(name, 0);
    } finally {
      lock.unlock();
    }
  }

  /** Loads all prices. */
  void load() throws InterruptedException {
    lock.lock();
    try {
      fetch();
      byName.merge("WEFT", 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }

  /** Asks the exchange, which is far away. */
  private static void fetch() throws InterruptedException {
    Thread.sleep(20);
  }

  long waited() {
    return waited.get();
  }
}
