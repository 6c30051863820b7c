// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

/** The native methods of weft-otel.jar, in its class. */
public final class Agent {
    private Agent() {}

    public static native boolean changed(long traceHigh, long traceLow, long span);

    public static native void ended(String name);

    /** What older jars call. */
    public static native void current(long traceHigh, long traceLow, long span);
}
