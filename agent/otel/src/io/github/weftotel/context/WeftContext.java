// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Starts Weft's agent and reports the current span of each thread to it, so that waits link to the request that waits and to
 * the one that holds the lock. OpenTelemetry's auto-configuration finds this class on the class path. If you build the SDK by hand, call
 * {@link #install()} before the first span becomes current.
 */
public final class WeftContext implements AutoConfigurationCustomizerProvider {
    private static final AtomicBoolean INSTALLED = new AtomicBoolean();
    private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
    private static final AttributeKey<String> METHOD = AttributeKey.stringKey("http.request.method");

    @Override
    public void customize(AutoConfigurationCustomizer customizer) {
        wrapStorage();
        customizer.addResourceCustomizer(Identity::agree);
    }

    /** The last one: other extensions may change the resource too. */
    @Override
    public int order() {
        return Integer.MAX_VALUE;
    }

    /** Starts the agent and installs the context storage wrapper once; further calls do nothing. */
    public static void install() {
        wrapStorage();
        Start.once();
    }

    private static void wrapStorage() {
        if (INSTALLED.compareAndSet(false, true)) {
            ContextStorage.addWrapper(ReportingStorage::new);
        }
    }

    private static final class ReportingStorage implements ContextStorage {
        private final ContextStorage storage;

        ReportingStorage(ContextStorage storage) {
            this.storage = storage;
        }

        @Override
        public Scope attach(Context next) {
            SpanContext before = span(storage.current());
            Scope scope = storage.attach(next);
            SpanContext after = span(next);
            if (before == after || !after.isSampled() || scope == Scope.noop()) {
                return scope; // without a span of its own, this part of a request is still of the request
            }
            Agent.report(after, () -> null);
            return () -> {
                scope.close();
                Agent.report(span(storage.current()), () -> name(next));
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

        /** The method and route of the context's span, or else its name; null if it cannot be read. */
        private static String name(Context context) {
            Span span = Span.fromContext(context);
            if (!(span instanceof ReadableSpan)) {
                return null;
            }
            ReadableSpan request = (ReadableSpan) span;
            String route = request.getAttribute(ROUTE);
            if (route == null) {
                return request.getName(); // which contains the route if instrumentation has updated it
            }
            String method = request.getAttribute(METHOD);
            return method == null ? route : method + " " + route;
        }

        private static SpanContext span(Context context) {
            return context == null ? SpanContext.getInvalid() : Span.fromContext(context).getSpanContext();
        }
    }
}
