// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

import java.util.Comparator;
import java.util.PriorityQueue;

/** The book of one stock. A single lock protects it: the hot one. */
final class OrderBook {
  private final PriorityQueue<Order> bids = new PriorityQueue<>(Comparator.comparingInt((Order o) -> -o.price));
  private final PriorityQueue<Order> asks = new PriorityQueue<>(Comparator.comparingInt((Order o) -> o.price));
  private final Tape tape = new Tape();
  private long orders;

  Tape tape() {
    return tape;
  }

  /** Matches the order against the other side and keeps the remainder. */
  synchronized void match(Order order) {
    orders++;
    Clock.compute(3_500); // walks the book
    PriorityQueue<Order> others = order.buy ? asks : bids;
    while (order.open > 0 && !others.isEmpty() && crosses(order, others.peek())) {
      Order other = others.peek();
      int quantity = Math.min(order.open, other.open);
      order.open -= quantity;
      other.open -= quantity;
      if (other.open == 0) {
        others.poll();
      }
      tape.record();
    }
    if (order.open > 0) {
      (order.buy ? bids : asks).add(order);
    }
  }

  /** Returns the depth of the book: a quick read, but it needs the lock. */
  synchronized int depth() {
    return bids.size() + asks.size();
  }

  synchronized long orders() {
    return orders;
  }

  /** Writes the whole book to disk. The mistake: it holds the lock during slow disk writes. */
  synchronized void writeReport() {
    Clock.compute(2_000); // formats
    Clock.sleep(120); // writes
  }

  private static boolean crosses(Order order, Order other) {
    return order.buy ? order.price >= other.price : order.price <= other.price;
  }
}
