// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.concurrent.locks.LockSupport;

/**
 * A Java agent that changes java.lang.VirtualThread again and again while the program runs, to what it is: "none" declines
 * to change it, "same" returns the bytes it gets, "redefine" defines it as the JDK does. "original" replaces it by what the
 * JDK has, whatever other agents did before. Prints how often.
 */
public final class Transforming {
    private static volatile int count;
    private static volatile Throwable failure;

    private Transforming() {}

    /** Loaded into a running JVM, it comes after the agents that are there already. */
    public static void agentmain(String way, Instrumentation instrumentation) throws Exception {
        premain(way, instrumentation);
    }

    public static void premain(String way, Instrumentation instrumentation) throws Exception {
        Class<?> changed = Class.forName("java.lang.VirtualThread");
        byte[] original;
        try (InputStream in = Object.class.getResourceAsStream("VirtualThread.class")) {
            original = in.readAllBytes();
        }
        if (!way.equals("redefine")) {
            instrumentation.addTransformer(new ClassFileTransformer() {
                @Override
                public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] file) {
                    if (redefined != changed || way.equals("none")) return null;
                    return way.equals("same") ? file.clone() : original.clone();
                }
            }, true);
        }
        Thread thread = new Thread(() -> {
            try {
                for (;; count++) {
                    if (way.equals("redefine")) {
                        instrumentation.redefineClasses(new ClassDefinition(changed, original));
                    } else {
                        instrumentation.retransformClasses(changed);
                    }
                    LockSupport.parkNanos(10_000_000); // the program runs, too
                }
            } catch (Throwable e) {
                failure = e;
            }
        }, "transforming");
        thread.setDaemon(true);
        thread.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(
            failure == null ? "transformed " + count : failure.toString())));
    }
}
