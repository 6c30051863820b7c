// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

import java.util.ArrayDeque;

/** A bounded queue in the old style: one lock, wait and notifyAll. */
final class OrderQueue {
  private final ArrayDeque<Order> orders = new ArrayDeque<>();
  private final int capacity;
  private boolean closed;

  OrderQueue(int capacity) {
    this.capacity = capacity;
  }

  /** Waits while the queue is full. */
  synchronized void put(Order order) throws InterruptedException {
    while (orders.size() == capacity) {
      wait();
    }
    if (orders.isEmpty()) {
      notifyAll(); // threads wait for an order only while the queue is empty
    }
    orders.add(order);
  }

  /** Waits while the queue is empty; returns null once it is closed and empty. */
  synchronized Order take() throws InterruptedException {
    while (orders.isEmpty() && !closed) {
      wait();
    }
    if (orders.size() == capacity) {
      notifyAll(); // threads wait for room only while the queue is full
    }
    return orders.poll();
  }

  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
