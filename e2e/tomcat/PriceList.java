// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.prices;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/** Prices by item. As many lists do, this one fetches new prices while it keeps the lock that each request needs. */
final class PriceList {
  private static final int ITEMS = 100;
  private static final int FETCH_MILLIS = 60;

  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong waited = new AtomicLong();
  private Map<Integer, Integer> prices = Map.of();

  int price(int item) {
    long called = System.nanoTime();
    lock.lock();
    try {
      waited.addAndGet(System.nanoTime() - called);
      return prices.getOrDefault(item, 0);
    } finally {
      lock.unlock();
    }
  }

  void reload() {
    lock.lock();
    try {
      prices = fetch();
    } finally {
      lock.unlock();
    }
  }

  /** Calls somebody else's service. */
  private static Map<Integer, Integer> fetch() {
    try {
      Thread.sleep(FETCH_MILLIS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    Map<Integer, Integer> fetched = new HashMap<>();
    for (int item = 0; item < ITEMS; item++) {
      fetched.put(item, item * item);
    }
    return fetched;
  }

  /** Returns how long all requests waited for the lock. */
  long waited() {
    return waited.get();
  }
}
