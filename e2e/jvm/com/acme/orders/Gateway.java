// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

import java.util.Random;

/** Takes orders from its clients and queues them. */
final class Gateway implements Runnable {
  private final Random clients;
  private final OrderQueue queue;
  private final Clock clock;

  Gateway(int number, OrderQueue queue, Clock clock) {
    this.clients = new Random(number);
    this.queue = queue;
    this.clock = clock;
  }

  @Override
  public void run() {
    try {
      while (clock.open()) {
        clock.pause(12 + clients.nextInt(36)); // the next client calls
        boolean buy = clients.nextBoolean();
        int price = 1_000 + (buy ? 1 : -1) * (clients.nextInt(20) - 8);
        queue.put(new Order(buy, price, 1 + clients.nextInt(100)));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
