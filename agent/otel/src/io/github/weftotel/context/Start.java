// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package io.github.weftotel.context;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Starts Weft's agent in this JVM, unless it was started before. Whatever fails, the application continues, and the log of
 * OpenTelemetry has one line.
 */
final class Start {
    private static final Logger LOG = Logger.getLogger(Start.class.getName());
    private static final AtomicBoolean DONE = new AtomicBoolean();

    private Start() {}

    /** Starts the agent; further calls do nothing. */
    static void once() {
        if (!DONE.compareAndSet(false, true)) {
            return;
        }
        try {
            if (isEnabled(System.getenv("WEFT_ENABLED"))) {
                start();
            }
        } catch (UnsupportedOperationException e) {
            log(Level.INFO, "Weft's agent was not started: " + e.getMessage());
        } catch (Exception | LinkageError e) {
            log(Level.WARNING, "Weft's agent was not started: " + e.getMessage());
        }
    }

    /** A value that is neither yes nor no is likelier to mean no. */
    private static boolean isEnabled(String value) {
        switch (value == null ? "" : value.toLowerCase(Locale.ROOT)) {
            case "":
            case "true":
            case "on":
                return true;
            case "false":
            case "off":
                return false;
            default:
                throw new IllegalArgumentException("WEFT_ENABLED=" + value + " (want true or false)");
        }
    }

    private static void start() throws IOException {
        String problem;
        try {
            problem = begin(); // another part of the JVM may have loaded the agent
        } catch (UnsatisfiedLinkError e) {
            Library.load();
            problem = begin();
        }
        if (problem == null) {
            log(Level.FINE, "Weft's agent was started before; WEFT_* variables have no effect");
        } else if (problem.isEmpty()) {
            log(Level.FINE, "Weft's agent was started");
        } else {
            log(Level.WARNING, "Weft's agent was started: " + problem);
        }
    }

    private static void log(Level level, String text) {
        LOG.log(level, text.replaceAll("\\p{Cntrl}", " "));
    }

    /**
     * Starts the agent with the options in WEFT_* variables. Returns null if it was started before, and else what does not work
     * in this JVM. Throws an IllegalStateException if the agent cannot be started.
     */
    private static native String begin();
}
