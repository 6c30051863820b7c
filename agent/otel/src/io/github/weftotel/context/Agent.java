// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.trace.SpanContext;
import java.util.function.Supplier;

/** Reports the current span of this thread to the agent. Does nothing without the agent. */
final class Agent {
    /** Number of calls until a missing agent is looked for again; it may be attached later. */
    private static final int AGAIN = 1 << 16;

    /** Calls left until then; 0: the agent is present. A race only shifts the next look slightly. */
    private static int missing;

    /** The agent is older than {@link #changed}. */
    private static boolean old;

    private Agent() {}

    /**
     * Reports the span that is current from here on, an unsampled one as no span, because a link to it would lead nowhere.
     * The name is that of the request whose scope closes; it is computed only if the request ends and has waited.
     */
    static void report(SpanContext span, Supplier<String> name) {
        if (missing > 0 && --missing > 0) {
            return;
        }
        try {
            if (span.isSampled()) {
                String trace = span.getTraceId();
                report(number(trace, 0), number(trace, 16), number(span.getSpanId(), 0), name);
            } else {
                report(0, 0, 0, name);
            }
        } catch (UnsatisfiedLinkError e) {
            missing = AGAIN;
        }
    }

    private static void report(long traceHigh, long traceLow, long span, Supplier<String> name) {
        if (!old) {
            try {
                if (changed(traceHigh, traceLow, span)) {
                    end(name);
                }
                return;
            } catch (UnsatisfiedLinkError e) {
                // There is no agent, or an older one.
            }
        }
        current(traceHigh, traceLow, span);
        old = true;
    }

    /** A span may be of any class or version; a failure to name it must not reach the application. */
    private static void end(Supplier<String> name) {
        String named = null;
        try {
            named = name.get();
        } catch (Exception | LinkageError | AssertionError | StackOverflowError e) {
            // The request has no name.
        } finally {
            ended(named);
        }
    }

    /** Parses 16 digits of an id, which are lowercase; 70 ns less for a request with one span inside than Long.parseUnsignedLong. */
    private static long number(String digits, int from) {
        long n = 0;
        for (int i = from; i < from + 16; i++) {
            char digit = digits.charAt(i);
            n = n << 4 | (digit <= '9' ? digit - '0' : digit - 'a' + 10);
        }
        return n;
    }

    /**
     * Another span is current from here on; all 0: none. If it returns true, nothing has changed yet: the thread's outermost
     * span is about to end, and the thread has waited since that span became current. {@link #ended} has to follow.
     */
    private static native boolean changed(long traceHigh, long traceLow, long span);

    /** No span is current from here on. The name is that of the request that was; null: unknown. */
    private static native void ended(String name);

    /** What agents had before {@link #changed}. */
    private static native void current(long traceHigh, long traceLow, long span);
}
