// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;

/**
 * One request that is blocked once. It waits for a line of input before, so that an agent can be attached, and again after it.
 */
public final class OneRequest {
  private static final Object LOCK = new Object();

  public static void main(String[] args) throws Exception {
    Tracer tracer = GlobalOpenTelemetry.getTracer("one");
    System.out.println("ready");
    System.in.read();
    Thread waiter = new Thread(() -> {
      Span span = tracer.spanBuilder("request").startSpan();
      try (Scope scope = span.makeCurrent()) {
        synchronized (LOCK) {
          span.setAttribute("blocked", true);
        }
      } finally {
        span.end();
      }
    }, "waiter");
    synchronized (LOCK) {
      waiter.start();
      Blocked.await(LOCK, waiter);
    }
    waiter.join();
    System.out.println("answered");
    System.in.read();
    System.out.printf("{\"service\":\"%s\",\"instance\":\"%s\"}%n",
        System.getProperty("weft.otel.service.name", ""), System.getProperty("weft.otel.service.instance.id", ""));
  }
}
