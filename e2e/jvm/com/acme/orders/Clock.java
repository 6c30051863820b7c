// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Knows when the exchange closes, and keeps a processor busy for a while. */
final class Clock {
  private final long opened = System.nanoTime();
  private final long length;

  Clock(long length) {
    this.length = length;
  }

  boolean open() {
    return elapsed() < length;
  }

  long elapsed() {
    return System.nanoTime() - opened;
  }

  /** Sleeps, but not much beyond the closing time. */
  void pause(long millis) {
    long left = (length - elapsed()) / 1_000_000 + 1;
    sleep(Math.max(1, Math.min(millis, left)));
  }

  static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts threads of the exchange", e);
    }
  }

  /** Computes for about the given time. */
  static void compute(long micros) {
    long end = System.nanoTime() + micros * 1_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
