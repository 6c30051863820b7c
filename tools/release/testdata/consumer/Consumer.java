// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;

/** Makes a span current and prints whose storage of contexts reports it. */
final class Consumer {
    public static void main(String[] args) throws Exception {
        OpenTelemetry sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
        Span span = sdk.getTracer("consumer").spanBuilder("request").startSpan();
        try (Scope scope = span.makeCurrent()) {
            Thread.sleep(20); // a wait of the request
        }
        span.end();
        System.out.println(ContextStorage.get().getClass().getName() + " " + span.getSpanContext().getTraceId());
    }
}
