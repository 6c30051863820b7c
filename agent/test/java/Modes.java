// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Waits of each kind until standard input ends; some thread is always waiting. Prints their numbers as "class kind count". */
public final class Modes {
    static final class Waited {}
    static final class Parked {}
    static final class Virtual {}
    static final class Handed {}

    static final int THREADS = 4;

    static final AtomicInteger waits = new AtomicInteger();
    static final AtomicInteger parks = new AtomicInteger();
    static final AtomicInteger virtualParks = new AtomicInteger();

    static volatile boolean over;
    static volatile int requested;
    static volatile int entered;

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[2 * THREADS];
        for (int i = 0; i < THREADS; i++) {
            threads[i] = new Thread(Modes::waits, "worker-" + i);
            threads[THREADS + i] = new Thread(() -> parks(new Parked(), parks), "worker-1" + i);
        }
        for (Thread t : threads) t.start();
        Thread[] virtual = new Thread[Runtime.version().feature() >= 21 ? THREADS : 0];
        for (int i = 0; i < virtual.length; i++) {
            virtual[i] = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
                .invoke(null, (Runnable) () -> parks(new Virtual(), virtualParks));
        }
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) { }
            } catch (java.io.IOException e) {
                throw new AssertionError(e);
            }
            over = true;
        });
        reader.start();
        int handed = handoffs();
        for (Thread t : threads) t.join();
        for (Thread t : virtual) t.join();
        System.out.println("Modes$Waited wait " + waits);
        System.out.println("Modes$Parked park " + parks);
        System.out.println("Modes$Handed contendedEnter " + handed);
        // Before 24 virtual threads park a few times more than the program requests.
        if (Runtime.version().feature() >= 24) System.out.println("Modes$Virtual park " + virtualParks);
    }

    static void waits() {
        Waited lock = new Waited();
        try {
            synchronized (lock) {
                while (!over) {
                    lock.wait(2);
                    waits.incrementAndGet();
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void parks(Object lock, AtomicInteger count) {
        while (!over) {
            LockSupport.parkNanos(lock, 2_000_000);
            count.incrementAndGet();
        }
    }

    /** Each with a thread that is blocked until this one sees it. */
    static int handoffs() throws Exception {
        final int none = -1;
        Handed lock = new Handed();
        Thread other = new Thread(() -> {
            for (int i = 1; ; i++) {
                while (requested != none && requested < i) Thread.yield();
                if (requested == none) return;
                synchronized (lock) { }
                entered = i;
            }
        }, "worker-20");
        other.start();
        int count = 0;
        while (!over) {
            count++;
            synchronized (lock) {
                requested = count;
                Blocked.await(lock, other);
            }
            while (entered < count) Thread.yield();
        }
        requested = none;
        other.join();
        return count;
    }
}
