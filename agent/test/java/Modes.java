// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/** For some seconds, a known number of waits of each kind; some thread is always in the middle of one. */
public final class Modes {
    static final class Waited {}
    static final class Parked {}
    static final class Virtual {}
    static final class Handed {}

    static final int THREADS = 4;
    static final int WAITS = 1000;
    static final int HANDED = 400;

    static volatile int asked;
    static volatile int entered;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[2 * THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(Modes::waits, "worker-" + i);
            threads[THREADS + i] = new Thread(() -> parks(new Parked()), "worker-1" + i);
        }
        for (Thread t : threads) t.start();
        Thread[] virtual = new Thread[Runtime.version().feature() >= 21 ? THREADS : 0];
        for (int i = 0; i < virtual.length; i++) {
            virtual[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, (Runnable) () -> parks(new Virtual()));
        }
        handoffs();
        for (Thread t : threads) t.join();
        for (Thread t : virtual) t.join();
    }

    static void waits() {
        Waited lock = new Waited();
        try {
            synchronized (lock) {
                for (int i = 0; i < WAITS; i++) lock.wait(2);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void parks(Object lock) {
        for (int i = 0; i < WAITS; i++) LockSupport.parkNanos(lock, 2_000_000);
    }

    /** Each with a thread that is blocked until this one sees it. */
    static void handoffs() throws Exception {
        Handed lock = new Handed();
        Thread other = new Thread(() -> {
            for (int i = 1; i <= HANDED; i++) {
                while (asked < i) Thread.yield();
                synchronized (lock) { }
                entered = i;
            }
        }, "worker-20");
        other.start();
        for (int i = 1; i <= HANDED; i++) {
            synchronized (lock) {
                asked = i;
                Blocked.await(lock, other);
            }
            while (entered < i) Thread.yield();
        }
        other.join();
    }
}
