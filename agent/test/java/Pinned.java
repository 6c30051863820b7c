// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (21 and later, so by reflection) that wait: free to leave their carriers, in a synchronized block,
 * below a native frame (args[0] is the library) and in the initializer of a class. Each waits a known number of times
 * in each way: it parks, blocks at a monitor, and waits at one. The class of the lock says where.
 */
public final class Pinned {
    static final int TURNS = 50;

    static class Free {}

    static final class Synchronized extends Free {}

    static final class Native extends Free {}

    static final class Initializer extends Free {}

    static final Initializer INITIALIZER = new Initializer();

    /** Its initializer waits. */
    static final class Waiting {
        static {
            waits(INITIALIZER);
        }

        static void init() {}
    }

    static volatile int turn;
    static volatile int passed;
    static int entered;

    static native void below(Runnable body);

    static void park(Free lock, int until) {
        while (turn < until) LockSupport.park(lock);
    }

    static void waits(Free lock) {
        for (int i = 1; i <= TURNS; i++) {
            park(lock, 3 * i - 2);
            synchronized (lock) { // held by the other thread
                entered++;
            }
            synchronized (lock) {
                int until = 3 * i;
                while (turn < until) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
            passed = i;
        }
    }

    /**
     * Waits until the only carrier (the scheduler's parallelism is 1) parks, idle or pinned: a pinned thread is said to
     * wait just before that, and does not park if it is unparked then.
     */
    static void awaitParked() {
        for (Thread t : Thread.getAllStackTraces().keySet()) {
            if (t.getName().startsWith("ForkJoinPool-1-worker-")) {
                while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING) Thread.yield();
            }
        }
    }

    static void awaits(Thread thread, Thread.State state) {
        while (thread.getState() != state) Thread.yield();
    }

    /** Lets a thread wait in each way, each time until it does. */
    static void wake(Thread thread, Free lock) {
        turn = passed = 0;
        thread.start();
        for (int i = 1; i <= TURNS; i++) {
            awaits(thread, Thread.State.WAITING);
            awaitParked();
            synchronized (lock) {
                turn = 3 * i - 2;
                LockSupport.unpark(thread);
                awaits(thread, Thread.State.BLOCKED);
            }
            awaits(thread, Thread.State.WAITING);
            synchronized (lock) {
                turn = 3 * i;
                lock.notify();
            }
            while (passed < i) Thread.yield();
        }
    }

    static Thread unstarted(Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, body);
    }

    static void run(Free lock, Runnable body) throws Exception {
        Thread thread = unstarted(body);
        thread.setName("waiter");
        wake(thread, lock);
        thread.join();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Free free = new Free();
        run(free, () -> waits(free));
        Synchronized own = new Synchronized();
        Object outer = new Object();
        run(own, () -> {
            synchronized (outer) {
                waits(own);
            }
        });
        Native called = new Native();
        run(called, () -> below(() -> waits(called)));
        run(INITIALIZER, Waiting::init);
        System.out.println("pinned " + entered);
    }
}
