// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Waits for trades and publishes them. */
final class MarketData implements Runnable {
  private final Tape tape;

  MarketData(Tape tape) {
    this.tape = tape;
  }

  @Override
  public void run() {
    try {
      for (long seen = 0; seen >= 0; seen = tape.await(seen)) {
        publish();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void publish() {
    Clock.compute(200);
  }
}
