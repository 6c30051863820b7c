// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Writes a report of the book from time to time. This is who makes everybody wait. */
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

  /** Returns the number of reports; for after the thread was joined. */
  int written() {
    return written;
  }
}
