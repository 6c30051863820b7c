// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Method;
import java.util.Scanner;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (21 and later, so by reflection) that are started, unparked, interrupted, or wait in vain, a
 * known number of times each: prints the numbers of starts, unparks, timeouts and interrupts.
 */
public final class Wakes {
    private static final int TURNS = 200;
    private static Method starter;
    private static int started;

    static volatile int turn;

    static Thread start(Runnable body) throws Exception {
        started++;
        return (Thread) starter.invoke(null, body);
    }

    /** Waits until a thread is parked, with or without a timeout. */
    static void awaitPark(Thread thread) {
        for (;;) {
            Thread.State state = thread.getState();
            if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING) return;
            Thread.yield();
        }
    }

    /** Parks until the turn comes; each turn is one park. */
    static Thread sleeper() throws Exception {
        return start(() -> {
            for (int i = 1; i <= TURNS; i++) {
                while (turn < i) LockSupport.park();
            }
        });
    }

    /** Wakes the thread from its only park in each turn. */
    static void wake(Thread thread) {
        for (int i = 1; i <= TURNS; i++) {
            awaitPark(thread);
            turn = i;
            LockSupport.unpark(thread);
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            run();
            return;
        }
        System.out.println("ready"); // each line requests a run
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            lines.nextLine();
            run();
        }
    }

    private static void run() throws Exception {
        started = turn = 0;
        starter = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread woken = sleeper();
        wake(woken); // by a platform thread
        woken.join();
        turn = 0;
        Thread sleeper = sleeper();
        Thread waker = start(() -> wake(sleeper)); // by a virtual thread
        sleeper.join();
        waker.join();
        Thread timed = start(() -> {
            for (int i = 0; i < TURNS; i++) LockSupport.parkNanos(100_000);
        });
        timed.join();
        Semaphore done = new Semaphore(0);
        for (int i = 0; i < TURNS; i++) {
            Thread stopped = start(() -> {
                LockSupport.park();
                done.release();
            });
            awaitPark(stopped);
            stopped.interrupt();
            done.acquire();
            stopped.join();
        }
        System.out.printf("wakes started=%d unparked=%d expired=%d interrupted=%d%n", started, 2 * TURNS, TURNS, TURNS);
    }
}
