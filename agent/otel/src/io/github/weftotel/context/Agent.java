// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.trace.SpanContext;

/** Reports the current span of this thread to the agent. Does nothing without the agent. */
final class Agent {
    /** Number of calls until a missing agent is looked for again; it may be attached later. */
    private static final int AGAIN = 1 << 16;

    /** Calls left until then; 0: the agent is present. A race only shifts the next look slightly. */
    private static int missing;

    private Agent() {}

    /** Reports an unsampled span as no span, because a link to it would lead nowhere. */
    static void report(SpanContext span) {
        if (missing > 0 && --missing > 0) {
            return;
        }
        try {
            if (span.isSampled()) {
                String trace = span.getTraceId();
                current(number(trace, 0), number(trace, 16), number(span.getSpanId(), 0));
            } else {
                current(0, 0, 0);
            }
        } catch (UnsatisfiedLinkError e) {
            missing = AGAIN;
        }
    }

    /** Parses 16 hexadecimal digits. */
    private static long number(String digits, int from) {
        return Long.parseUnsignedLong(digits, from, from + 16, 16);
    }

    private static native void current(long traceHigh, long traceLow, long span);
}
