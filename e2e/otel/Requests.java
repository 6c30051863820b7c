// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import java.util.Map;
import java.util.function.Consumer;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Two requests with spans of OpenTelemetry's SDK contend for one lock: a monitor, then a ReentrantLock. The owner keeps it
 * until the other is blocked. The program does not know the agent: the SDK finds the extension.
 */
public final class Requests {
  static final class Account {}

  private static Tracer tracer;
  private static volatile boolean held;

  private Requests() {}

  public static void main(String[] args) throws InterruptedException {
    try (OpenTelemetrySdk sdk = sdk()) {
      tracer = sdk.getTracer("requests");
      Account account = new Account();
      ReentrantLock lock = new ReentrantLock();
      String monitor = contend(body -> {
        synchronized (account) {
          body.run();
        }
      }, waiter -> Blocked.await(account, waiter));
      String synchronizer = contend(body -> {
        lock.lock();
        try {
          body.run();
        } finally {
          lock.unlock();
        }
      }, waiter -> {
        while (!lock.hasQueuedThread(waiter) || waiter.getState() != Thread.State.WAITING) Thread.yield();
      });
      System.out.printf("{\"monitor\":%s,\"lock\":%s}%n", monitor, synchronizer);
    }
  }

  private static OpenTelemetrySdk sdk() {
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addPropertiesSupplier(
            () -> Map.of("otel.traces.exporter", "none", "otel.metrics.exporter", "none", "otel.logs.exporter", "none"))
        .disableShutdownHook()
        .build()
        .getOpenTelemetrySdk();
  }

  interface Locked {
    void run(Runnable body);
  }

  /** The spans of the owner and of the waiting request. */
  private static String contend(Locked locked, Consumer<Thread> blocked) throws InterruptedException {
    held = false;
    Thread[] waiter = {null};
    Span[] spans = {null, null};
    Thread holder = new Thread(() -> request("holder", span -> {
      spans[0] = span;
      locked.run(() -> {
        held = true;
        while (held) Thread.yield();
      });
    }), "holder");
    waiter[0] = new Thread(() -> request("waiter", span -> {
      spans[1] = span;
      request("before", inner -> { }); // has ended, so the outer span is current again
      long began = System.nanoTime();
      while (!held || System.nanoTime() - began < 5_000_000) Thread.yield(); // clocks are read after a millisecond
      locked.run(() -> { });
    }), "waiter");
    holder.start();
    waiter[0].start();
    blocked.accept(waiter[0]);
    held = false;
    holder.join();
    waiter[0].join();
    return String.format("{\"holder\":%s,\"waiter\":%s}", ids(spans[0]), ids(spans[1]));
  }

  interface Work {
    void run(Span span);
  }

  private static void request(String name, Work work) {
    Span span = tracer.spanBuilder(name).startSpan();
    try (Scope scope = span.makeCurrent()) {
      work.run(span);
    } finally {
      span.end();
    }
  }

  private static String ids(Span span) {
    return String.format("{\"trace\":\"%s\",\"span\":\"%s\"}", span.getSpanContext().getTraceId(), span.getSpanContext().getSpanId());
  }
}
