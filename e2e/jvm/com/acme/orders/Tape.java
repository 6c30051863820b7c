// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

/** Counts the trades and wakes threads that wait for the next one. */
final class Tape {
  private long trades;
  private boolean closed;

  synchronized void record() {
    trades++;
    notify();
  }

  synchronized long trades() {
    return trades;
  }

  synchronized void close() {
    closed = true;
    notifyAll();
  }

  /** Waits until there are more trades than {@code seen}; returns -1 once the tape is closed. */
  synchronized long await(long seen) throws InterruptedException {
    while (trades <= seen && !closed) {
      wait();
    }
    return closed ? -1 : trades;
  }
}
