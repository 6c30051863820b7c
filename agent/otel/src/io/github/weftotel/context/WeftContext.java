// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells Weft's agent which span is current on each thread, so that waits are linked to the requests that wait, and to those
 * that hold the lock. OpenTelemetry's auto-configuration finds it by itself when it is in the class path; who builds the SDK
 * by hand calls {@link #install()} before the first span is made current.
 */
public final class WeftContext implements AutoConfigurationCustomizerProvider {
    private static final AtomicBoolean INSTALLED = new AtomicBoolean();

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        install();
    }

    /** Does nothing the second time. */
    public static void install() {
        if (INSTALLED.compareAndSet(false, true)) {
            ContextStorage.addWrapper(Telling::new);
        }
    }

    private static final class Telling implements ContextStorage {
        private final ContextStorage storage;

        Telling(ContextStorage storage) {
            this.storage = storage;
        }

        @Override
        public Scope attach(Context next) {
            SpanContext before = span(storage.current());
            Scope scope = storage.attach(next);
            SpanContext after = span(next);
            if (before == after || scope == Scope.noop()) {
                return scope;
            }
            Agent.tell(after);
            return () -> {
                scope.close();
                Agent.tell(span(storage.current()));
            };
        }

        @Override
        public Context current() {
            return storage.current();
        }

        @Override
        public Context root() {
            return storage.root();
        }

        private static SpanContext span(Context context) {
            return context == null ? SpanContext.getInvalid() : Span.fromContext(context).getSpanContext();
        }
    }
}
