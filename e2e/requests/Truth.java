// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import java.io.PrintStream;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What each acquisition of a lock or a connection cost, by the program's own clock. It takes no lock, so it adds no wait. */
final class Truth {
  private static final long SECOND = 1_000_000_000L;
  private static final Queue<Hold> HOLDS = new ConcurrentLinkedQueue<>();
  private static final long OFFSET = offset();

  private Truth() {}

  /** Returns the difference between nanoseconds since 1970 and System.nanoTime, as of the shortest of several readings. */
  private static long offset() {
    long best = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < 1000; i++) {
      long before = System.nanoTime();
      Instant wall = Instant.now();
      long took = System.nanoTime() - before;
      if (took < best) {
        best = took;
        offset = wall.getEpochSecond() * SECOND + wall.getNano() - before - took / 2;
      }
    }
    return offset;
  }

  static long now() {
    return System.nanoTime() + OFFSET;
  }

  /** One acquisition, or a whole request; times are nanoseconds since 1970. */
  static final class Hold {
    private final String of;
    private final String thread = Thread.currentThread().getName();
    private final SpanContext span = Span.current().getSpanContext();
    private final long called = now();
    private long acquired;
    private volatile long released;

    Hold(String of) {
      this.of = of;
    }

    void acquired() {
      acquired = now();
    }

    /** To be called while it is still held. */
    void released() {
      released = now();
      HOLDS.add(this);
    }
  }

  /** Prints all acquisitions that are over, as one line of JSON. */
  static void print(PrintStream out) {
    StringBuilder json = new StringBuilder("{\"holds\":[");
    String comma = "";
    for (Hold hold : HOLDS) {
      json.append(comma).append(String.format(
          "{\"of\":\"%s\",\"thread\":\"%s\",\"trace\":\"%s\",\"span\":\"%s\",\"called\":%d,\"acquired\":%d,\"released\":%d}",
          hold.of, hold.thread, hold.span.getTraceId(), hold.span.getSpanId(), hold.called, hold.acquired, hold.released));
      comma = ",";
    }
    out.println(json.append("]}"));
  }
}
