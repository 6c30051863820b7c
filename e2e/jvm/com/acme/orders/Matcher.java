// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Takes orders from the queue and matches them. The book's lock lets only one of several matchers work at a time. */
final class Matcher implements Runnable {
  private final OrderQueue queue;
  private final OrderBook book;

  Matcher(OrderQueue queue, OrderBook book) {
    this.queue = queue;
    this.book = book;
  }

  @Override
  public void run() {
    try {
      for (Order order = queue.take(); order != null; order = queue.take()) {
        Clock.compute(1_000); // checks limits
        book.match(order);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
