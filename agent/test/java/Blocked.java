// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Waits until threads are blocked on a monitor for good, and an agent was told so.
 *
 * <p>HotSpot (ObjectMonitor::enter) first makes the thread's state BLOCKED, then posts MonitorContendedEnter, and only then marks the
 * thread of the operating system as one that waits for a monitor, before it stops. Between the first two the thread may sleep, too: to
 * find the owner, an agent may have to wait for a safepoint, which on a busy machine takes long; and the monitor on which it is BLOCKED
 * may be another, of a class that is just loaded. The mark is seen in thread dumps alone, as "waiting for monitor entry".
 */
final class Blocked {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    private Blocked() {}

    /** Returns when the thread waits for a notification and has given its monitor up, or has ended; state WAITING or TIMED_WAITING comes before that. */
    static void awaitWait(Thread thread) {
        while (thread.isAlive() && !waits(thread)) Thread.yield();
    }

    /** Returns when all threads are blocked on the monitor, which none of them can get meanwhile: whoever has it keeps it at least until then. */
    static void await(Object monitor, Thread... threads) {
        for (Thread thread : threads) {
            while (!wants(thread, monitor)) Thread.yield();
        }
        while (!allMarked("waiting for monitor entry", threads)) Thread.yield();
    }

    /** Reports whether a thread waits for a notification and has given its monitor up. */
    static boolean waits(Thread thread) {
        return allMarked("in Object.wait()", thread);
    }

    /** Reports whether a thread is blocked on the monitor, which the calling thread has. */
    static boolean is(Object monitor, Thread thread) {
        return wants(thread, monitor) && allMarked("waiting for monitor entry", thread);
    }

    @SuppressWarnings("deprecation") // threadId is newer than the oldest JDK that these programs are for
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

    private static String dump() {
        try {
            return (String) SERVER.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "threadPrint",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new IllegalStateException(e);
        }
    }
}
