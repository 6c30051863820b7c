// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import io.opentelemetry.api.trace.SpanContext;

/** Tells the agent which span is current on this thread. Without the agent it does nothing. */
final class Agent {
    /** After how many calls in vain it is looked for again: it may be attached later. */
    private static final int AGAIN = 1 << 16;

    /** Calls to go until then; 0: it is there. Races only make it look a little earlier or later. */
    private static int missing;

    private Agent() {}

    /** A span that is not sampled is told as none: a link to it would lead nowhere. */
    static void tell(SpanContext span) {
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

    /** The 16 hexadecimal digits from there on. */
    private static long number(String digits, int from) {
        return Long.parseUnsignedLong(digits, from, from + 16, 16);
    }

    private static native void current(long traceHigh, long traceLow, long span);
}
