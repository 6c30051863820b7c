// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.search;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.util.InfoStream;

/** Adds up how long threads wait for the lock of commits, by the messages with which Lucene traces them. */
final class CommitWaits extends InfoStream {
  private final ThreadLocal<Long> called = new ThreadLocal<>();
  private final AtomicLong total = new AtomicLong();
  private final AtomicLong commits = new AtomicLong();

  @Override
  public boolean isEnabled(String component) {
    return component.equals("IW");
  }

  @Override
  public void message(String component, String text) {
    if (text.equals("commit: start")) {
      called.set(System.nanoTime());
    } else if (text.equals("commit: enter lock")) {
      total.addAndGet(System.nanoTime() - called.get());
      commits.incrementAndGet();
    }
  }

  long total() {
    return total.get();
  }

  long commits() {
    return commits.get();
  }

  @Override
  public void close() {}
}
