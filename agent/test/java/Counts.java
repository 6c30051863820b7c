// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;

/**
 * Does things a known number of times; jvmtest.sh compares with the agent's events. Prints "counted" and the one number not known beforehand.
 */
public final class Counts {
    static final class Notified {}
    static final class Handed {}
    static final class Awaited {}
    static final class Timed {}
    static final class Broken {}
    static final class Wrong {}
    static final class Joined extends Thread {
        Joined(Runnable body, int i) { super(body, "worker-" + i); }
    }

    public static void main(String[] args) throws Throwable {
        notifies();
        handoffs();
        joins();
        idle();
        int awaited = waits();
        wrongWaits();
        sleeps();
        System.out.println("counted " + awaited);
    }

    /** 300 000 notify (three ways), 50 000 notifyAll, and 20 that throw. */
    static void notifies() throws Throwable {
        Notified lock = new Notified();
        Method reflected = Object.class.getMethod("notify");
        MethodHandle handle = MethodHandles.lookup()
            .findVirtual(Object.class, "notify", MethodType.methodType(void.class));
        synchronized (lock) {
            for (int i = 0; i < 100_000; i++) lock.notify();
            for (int i = 0; i < 100_000; i++) reflected.invoke(lock);
            for (int i = 0; i < 100_000; i++) handle.invoke((Object) lock);
            for (int i = 0; i < 50_000; i++) lock.notifyAll();
        }
        for (int i = 0; i < 20; i++) {
            try {
                if (i % 2 == 0) lock.notify();
                else lock.notifyAll();
                throw new AssertionError();
            } catch (IllegalMonitorStateException expected) {
                // not an event
            }
        }
    }

    /** 30 waits that throw: on a monitor that is not owned, or with an invalid timeout. */
    static void wrongWaits() throws InterruptedException {
        Wrong lock = new Wrong();
        for (int i = 0; i < 30; i++) {
            try {
                if (i % 3 == 0) lock.wait();
                else if (i % 3 == 1) lock.wait(5);
                else synchronized (lock) { lock.wait(i % 2 == 0 ? -1 : Long.MIN_VALUE); }
                throw new AssertionError();
            } catch (IllegalMonitorStateException | IllegalArgumentException expected) {
                // not an event
            }
        }
    }

    /** 40 contended enters, each with an owner: main holds the lock until all four are blocked. */
    static void handoffs() throws Exception {
        Handed lock = new Handed();
        for (int round = 0; round < 10; round++) {
            Joined[] threads = new Joined[4];
            synchronized (lock) {
                for (int i = 0; i < threads.length; i++) {
                    threads[i] = new Joined(() -> { synchronized (lock) { } }, i);
                    threads[i].start();
                }
                Blocked.await(lock, threads);
            }
            for (Thread t : threads) {
                while (t.isAlive()) Thread.yield();
            }
        }
    }

    /** 20 joins that wait, the last of them interrupted; 20 threads. */
    static void joins() throws Exception {
        Thread main = Thread.currentThread();
        for (int i = 0; i < 20; i++) {
            boolean last = i == 19;
            Joined t = new Joined(() -> {
                while (main.getState() != Thread.State.WAITING) Thread.yield();
                if (last) {
                    main.interrupt();
                    while (main.getState() == Thread.State.WAITING) Thread.yield();
                }
            }, 100 + i);
            t.start();
            try {
                t.join();
                if (last) throw new AssertionError();
            } catch (InterruptedException e) {
                if (!last) throw e;
            }
            while (t.isAlive()) Thread.yield();
        }
    }

    /** A thread that others notify. */
    static class Worker extends Thread {
        static final int WAITS = 10;

        Worker() { super("idle"); }

        @Override
        public synchronized void run() {
            try {
                for (int i = 0; i < WAITS; i++) wait(1);
                join(1);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** 10 waits of a thread at itself, and a join with itself, which times out. */
    static void idle() {
        Worker worker = new Worker();
        worker.start();
        while (worker.isAlive()) Thread.yield();
    }

    /**
     * 50 waits that time out, 10 that are interrupted, 100 that are notified. Returns how often those 100 waited: HotSpot may wake a thread
     * spuriously, if the thread that releases a monitor is delayed before it wakes the next one, which already has the monitor.
     */
    static int waits() throws Exception {
        Timed timed = new Timed();
        synchronized (timed) {
            for (int i = 0; i < 50; i++) timed.wait(1);
        }
        Broken broken = new Broken();
        for (int i = 0; i < 10; i++) {
            Thread.currentThread().interrupt();
            synchronized (broken) {
                try {
                    broken.wait();
                    throw new AssertionError();
                } catch (InterruptedException expected) {
                    // counted by its flag
                }
            }
        }
        Awaited ready = new Awaited();
        int[] turn = {0};
        int[] given = {0};
        int[] awaited = {0};
        Joined other = new Joined(() -> {
            for (int i = 0; i < 100; i++) {
                synchronized (ready) {
                    try {
                        for (turn[0]++; given[0] < turn[0]; awaited[0]++) ready.wait();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }
        }, 200);
        other.start();
        for (int i = 1; i <= 100; i++) {
            for (boolean there = false; !there; ) {
                synchronized (ready) {
                    there = turn[0] == i;
                    if (there) {
                        given[0] = i;
                        ready.notify();
                    }
                }
                Thread.yield();
            }
        }
        while (other.isAlive()) Thread.yield();
        return awaited[0];
    }

    /** 100 sleeps in 4 threads, 5 of main that are interrupted, and one that throws at once. */
    static void sleeps() throws Exception {
        Joined[] threads = new Joined[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Joined(() -> {
                for (int j = 0; j < 25; j++) {
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
            }, 300 + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            while (t.isAlive()) Thread.yield();
        }
        for (int i = 0; i < 5; i++) {
            Thread.currentThread().interrupt();
            try {
                Thread.sleep(1000);
                throw new AssertionError();
            } catch (InterruptedException expected) {
                // counted by its flag
            }
        }
        try {
            Thread.sleep(-1);
            throw new AssertionError();
        } catch (IllegalArgumentException expected) {
            // not an event
        }
    }
}
