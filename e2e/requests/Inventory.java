// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

/** Stock, guarded by a monitor. */
final class Inventory {
  private final Object lock = new Object();
  private int stock;

  void take() throws InterruptedException {
    Truth.Hold hold = new Truth.Hold("Inventory.lock");
    synchronized (lock) {
      hold.acquired();
      stock--;
      Work.last(Work.TAKE);
      hold.released();
    }
  }

  /** Counts everything again. */
  void recount() throws InterruptedException {
    Truth.Hold hold = new Truth.Hold("Inventory.lock");
    synchronized (lock) {
      hold.acquired();
      stock = 0;
      Work.last(Work.LONG);
      hold.released();
    }
  }
}
