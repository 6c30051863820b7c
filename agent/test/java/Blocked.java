// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Waits until threads are definitely blocked on a monitor, and an agent was notified.
 *
 * <p>HotSpot (ObjectMonitor::enter) first sets the thread's state to BLOCKED, then posts MonitorContendedEnter, and only then marks the
 * OS thread as waiting for a monitor, before it blocks. Between the first two steps the thread may also sleep: to find the owner, an agent
 * may have to wait for a safepoint, which takes long on a busy machine; and the monitor on which it is BLOCKED may be another, of a class
 * being loaded. The mark is visible only in thread dumps, as "waiting for monitor entry".
 */
final class Blocked {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private Blocked() {}

    /** Returns when the thread waits for a notification and has released its monitor, or has ended; WAITING or TIMED_WAITING precedes that. */
    static void awaitWait(Thread thread) {
        while (thread.isAlive() && !waits(thread)) pause();
    }

    /** Returns when all threads are blocked on the monitor, whose owner must keep it at least until then. */
    static void await(Object monitor, Thread... threads) {
        for (Thread thread : threads) {
            while (!wants(thread, monitor)) pause();
        }
        while (!allMarked("waiting for monitor entry", threads)) pause();
    }

    /** Reports whether a thread waits for a notification and has released its monitor. */
    static boolean waits(Thread thread) {
        return allMarked("in Object.wait()", thread);
    }

    /** Reports whether a thread is blocked on the monitor, which the calling thread owns. */
    static boolean is(Object monitor, Thread thread) {
        return wants(thread, monitor) && allMarked("waiting for monitor entry", thread);
    }

    @SuppressWarnings("deprecation") // threadId is newer than the oldest supported JDK
    private static boolean wants(Thread thread, Object monitor) {
        ThreadInfo info = THREADS.getThreadInfo(thread.getId());
        return info != null && info.getThreadState() == Thread.State.BLOCKED && info.getLockInfo() != null
            && info.getLockInfo().getIdentityHashCode() == System.identityHashCode(monitor)
            && info.getLockInfo().getClassName().equals(monitor.getClass().getName());
    }

    @SuppressWarnings("deprecation") // as above
    private static boolean allMarked(String mark, Thread... threads) {
        String[] lines = dump().split("\n");
        for (Thread thread : threads) {
            boolean marked = false;
            for (String line : lines) { // "name" #id … waiting for monitor entry [address]
                marked |= line.startsWith("\"") && line.contains("\" #" + thread.getId() + " ") && line.contains(" " + mark + " ");
            }
            if (!marked) return false;
        }
        return true;
    }

    /**
     * Returns when a virtual thread is blocked on a monitor that it contends for and, up to Java 23, keeps its carrier, for which no dump has a
     * mark. The carrier sleeps, and did so over the safepoint of a dump, for which an agent could have waited.
     */
    static void awaitCarried(Thread virtual) {
        for (String before = ""; ; ) {
            String now = virtual.getState() == Thread.State.BLOCKED ? carrierOf(virtual) : "";
            if (now.contains("State:\tS") && now.equals(before)) return;
            before = now;
            pause();
        }
    }

    /** Returns the state of the carrier's OS thread, and how often it has slept. */
    @SuppressWarnings("deprecation") // as above
    private static String carrierOf(Thread virtual) {
        String[] lines = dump().split("\n");
        for (int i = 1; i < lines.length; i++) {
            if (lines[i].endsWith("Carrying virtual thread #" + virtual.getId())) {
                String task = lines[i - 1].replaceFirst(".*\\[(\\d+)\\] daemon.*", "$1"); // "name" #id [task] daemon …
                try (Stream<String> status = Files.lines(Path.of("/proc/self/task", task, "status"))) {
                    return status.filter(line -> line.startsWith("State:") || line.startsWith("voluntary")).collect(Collectors.joining());
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        return "";
    }

    /** Gives up the processor, but not at once: an agent may report each yield of a virtual thread, and there can be a million in a second. */
    private static void pause() {
        for (int i = 0; i < 1000; i++) Thread.onSpinWait();
        Thread.yield();
    }

    private static String dump() {
        try {
            return (String) SERVER.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
