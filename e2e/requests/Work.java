// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

/** Stands for calls of other services; durations in milliseconds. */
final class Work {
  static final int TAKE = 1;
  static final int STATEMENT = 20;
  static final int LONG = Integer.getInteger("checkout.long", 400); // of the job

  private Work() {}

  static void last(int millis) throws InterruptedException {
    Thread.sleep(millis);
  }
}
