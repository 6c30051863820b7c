// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Writes a report of the book from time to time. This thread makes all others wait. */
final class Report implements Runnable {
  private final OrderBook book;
  private final Clock clock;
  private int written;

  Report(OrderBook book, Clock clock) {
    this.book = book;
    this.clock = clock;
  }

  @Override
  public void run() {
    while (clock.open()) {
      clock.pause(700);
      book.writeReport();
      written++;
    }
  }

  /** Returns the number of reports; call it after joining the thread. */
  int written() {
    return written;
  }
}
