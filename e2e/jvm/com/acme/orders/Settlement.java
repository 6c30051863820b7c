// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

import java.util.ArrayList;
import java.util.List;

/** Settles in batches: starts a worker for each of a few banks and waits for all of them. */
final class Settlement implements Runnable {
  private static final String[] BANKS = {"alpine", "harbour", "meridian"};

  private final OrderBook book;
  private final Clock clock;
  private int settled;

  Settlement(OrderBook book, Clock clock) {
    this.book = book;
    this.clock = clock;
  }

  @Override
  public void run() {
    try {
      while (clock.open()) {
        clock.pause(450);
        List<Thread> workers = new ArrayList<>();
        for (String bank : BANKS) {
          Thread worker = new Thread(() -> settle(bank), "settle-" + bank);
          worker.start();
          workers.add(worker);
        }
        for (Thread worker : workers) {
          worker.join();
          settled++;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void settle(String bank) {
    book.depth();
    Clock.sleep(10 + 15L * (bank.length() - 5)); // the bank answers
  }

  /** Returns the number of settled batches of single banks; call it after joining the thread. */
  int settled() {
    return settled;
  }
}
