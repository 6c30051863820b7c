// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What each acquisition of a lock or a connection cost, by the program's own clock. It takes no lock, so it adds no wait. */
final class Truth {
  private static final long SECOND = 1_000_000_000L;
  private static final Queue<Hold> HOLDS = new ConcurrentLinkedQueue<>();
  private static final long OFFSET = offset();
  private static final Path SCHEDSTAT = Path.of("/proc/thread-self/schedstat");

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

  /**
   * Returns the time for which the current thread has run or lacked a processor: the first two fields of schedstat, see sched-stats in the
   * kernel's documentation. It is 0 for a virtual thread, which may be on another carrier the next time.
   */
  private static long busy() {
    if (Thread.currentThread().getThreadGroup().getName().equals("VirtualThreads")) {
      return 0;
    }
    try {
      String[] fields = Files.readString(SCHEDSTAT).split(" ");
      return Long.parseLong(fields[0]) + Long.parseLong(fields[1]);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One acquisition, or a whole request; times are nanoseconds since 1970. */
  static final class Hold {
    private final String of;
    private final String thread = Thread.currentThread().getName();
    private final SpanContext span = Span.current().getSpanContext();
    private final long before = busy();
    private final long called = now();
    private long acquired;
    private long busy; // before it was acquired
    private volatile long released;

    Hold(String of) {
      this.of = of;
    }

    void acquired() {
      acquired = now();
      busy = busy() - before;
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
          "{\"of\":\"%s\",\"thread\":\"%s\",\"trace\":\"%s\",\"span\":\"%s\",\"called\":%d,\"acquired\":%d,\"busy\":%d,"
              + "\"released\":%d}",
          hold.of, hold.thread, hold.span.getTraceId(), hold.span.getSpanId(), hold.called, hold.acquired, hold.busy,
          hold.released));
      comma = ",";
    }
    out.println(json.append("]}"));
  }
}
