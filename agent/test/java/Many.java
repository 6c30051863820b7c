// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.locks.LockSupport;

/**
 * args[0] concurrent threads, virtual or platform (args[1]), each parked until all are. Prints the peak memory of the process
 * in KiB.
 */
public final class Many {
    static final class Gate {}

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        Gate gate = new Gate();
        Runnable body = () -> LockSupport.park(gate);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = args[1].equals("virtual") ? virtual(body, "worker-" + i) : platform(body, "worker-" + i);
        }
        for (Thread t : threads) t.start();
        for (Thread t : threads) {
            while (t.getState() != Thread.State.WAITING) Thread.sleep(1);
        }
        for (Thread t : threads) LockSupport.unpark(t);
        for (Thread t : threads) t.join();
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) System.out.println(line.replaceAll("[^0-9]", ""));
        }
    }

    static Thread platform(Runnable body, String name) {
        return new Thread(null, body, name, 64 << 10);
    }

    /** Thread.ofVirtual().name(name).unstarted(body), for compilers of older JDKs. */
    static Thread virtual(Runnable body, String name) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method named = type.getMethod("name", String.class);
        return (Thread) type.getMethod("unstarted", Runnable.class).invoke(named.invoke(builder, name), body);
    }
}
