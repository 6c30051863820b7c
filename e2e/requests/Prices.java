// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import java.util.concurrent.locks.ReentrantLock;

/** Prices, guarded by a ReentrantLock. */
final class Prices {
  private final ReentrantLock lock = new ReentrantLock();
  private int price;

  int price() throws InterruptedException {
    Truth.Hold hold = new Truth.Hold("Prices.lock");
    lock.lock();
    try {
      hold.acquired();
      Work.last(Work.TAKE);
      return price;
    } finally {
      hold.released();
      lock.unlock();
    }
  }

  void reload() throws InterruptedException {
    Truth.Hold hold = new Truth.Hold("Prices.lock");
    lock.lock();
    try {
      hold.acquired();
      price++;
      Work.last(Work.LONG);
    } finally {
      hold.released();
      lock.unlock();
    }
  }
}
