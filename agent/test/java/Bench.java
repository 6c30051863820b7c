// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.github.weftotel.context.Agent;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleSupplier;

/** Prints the cost of notify, park and unpark, and contends for monitors so that callbacks can be timed. */
public final class Bench {
    static final class Owned extends AbstractOwnableSynchronizer {
        Owned() { setExclusiveOwnerThread(Thread.currentThread()); }
    }

    /** Frames to add, so that stacks have some depth: -Dframes=N. */
    static final int FRAMES = Integer.getInteger("frames", 20);

    /** What has a current span when threads contend: nothing, a "thread" all the time, each round as a "request", or only the "owner". */
    static final String SPANS = System.getProperty("spans", "");
    static volatile int parkTurn;
    static int turn;
    static int sum;

    public static void main(String[] args) throws Exception {
        best("synchronized + notify, as Java sees it", Bench::notifies);
        best("unpark, as Java sees it", Bench::unparks);
        best("park + unparked, as Java sees it", () -> parks(null));
        best("the same with a blocker that has an owner", () -> parks(new Owned()));
        if (!SPANS.isEmpty()) best("a request that does not wait, with a span inside", Bench::requests);
        pingPong(Integer.getInteger("rounds", 100_000));
        parkPingPong(Integer.getInteger("rounds", 100_000));
        contend(Integer.getInteger("enters", 30_000));
    }

    /** Adds frames. */
    static double deep(DoubleSupplier measured, int depth, int ignored) {
        return depth == 0 ? measured.getAsDouble() : deep(measured, depth - 1, depth);
    }

    static void best(String name, DoubleSupplier measured) {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 20; i++) best = Math.min(best, deep(measured, FRAMES, 0));
        System.out.printf("  %-42s %8.1f%n", name, best);
    }

    /** Unparks the thread itself, so no thread wakes up. */
    static double unparks() {
        Thread self = Thread.currentThread();
        int count = 20_000;
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) LockSupport.unpark(self);
        double each = (double) (System.nanoTime() - start) / count;
        LockSupport.park();
        return each;
    }

    /** Parks of an interrupted thread return at once. */
    static double parks(Object blocker) {
        int count = 20_000;
        Thread.currentThread().interrupt();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) LockSupport.park(blocker);
        double each = (double) (System.nanoTime() - start) / count;
        Thread.interrupted();
        return each;
    }

    /** Four changes of the current span. */
    static double requests() {
        int count = 20_000;
        long start = System.nanoTime();
        for (int i = 1; i <= count; i++) {
            Agent.changed(1, i, 1);
            Agent.changed(1, i, 2);
            Agent.changed(1, i, 1);
            Agent.changed(0, 0, 0);
        }
        return (double) (System.nanoTime() - start) / count;
    }

    static double notifies() {
        Object lock = new Object();
        int count = 20_000;
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            synchronized (lock) {
                lock.notify();
            }
        }
        return (double) (System.nanoTime() - start) / count;
    }

    static void pingPong(int rounds) throws Exception {
        Object lock = new Object();
        Thread[] threads = new Thread[2];
        for (int t = 0; t < 2; t++) {
            int me = t;
            threads[t] = new Thread(() -> deepPing(FRAMES, lock, me, rounds));
        }
        long start = System.nanoTime();
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.printf("  %-42s %8.1f%n", "wait/notify there and back, as Java sees it", (double) (System.nanoTime() - start) / rounds);
    }

    static void deepPing(int depth, Object lock, int me, int rounds) {
        if (depth > 0) {
            deepPing(depth - 1, lock, me, rounds);
            return;
        }
        for (int i = 0; i < rounds; i++) {
            synchronized (lock) {
                while (turn != me) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
                turn = 1 - me;
                lock.notify();
            }
        }
    }

    static void parkPingPong(int rounds) throws Exception {
        Thread[] threads = new Thread[2];
        for (int t = 0; t < 2; t++) {
            int me = t;
            threads[t] = new Thread(() -> deepParkPing(FRAMES, threads, me, rounds));
        }
        long start = System.nanoTime();
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
        System.out.printf("  %-42s %8.1f%n", "park/unpark there and back, as Java sees it", (double) (System.nanoTime() - start) / rounds);
    }

    static void deepParkPing(int depth, Thread[] threads, int me, int rounds) {
        if (depth > 0) {
            deepParkPing(depth - 1, threads, me, rounds);
            return;
        }
        for (int i = 0; i < rounds; i++) {
            while (parkTurn != me) LockSupport.park(threads);
            parkTurn = 1 - me;
            LockSupport.unpark(threads[1 - me]);
        }
    }

    static void contend(int enters) throws Exception {
        Object lock = new Object();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> deepContend(FRAMES, lock, enters / 4));
        }
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
    }

    static void deepContend(int depth, Object lock, int rounds) {
        if (depth > 0) {
            deepContend(depth - 1, lock, rounds);
            return;
        }
        boolean requests = SPANS.equals("request");
        boolean owners = SPANS.equals("owner");
        if (SPANS.equals("thread")) Agent.changed(1, 2, 3);
        for (int i = 0; i < rounds; i++) {
            if (requests) Agent.changed(1, i, 3);
            synchronized (lock) {
                if (owners) Agent.changed(1, i, 4);
                Thread.yield();
                sum++;
                if (owners) Agent.changed(0, 0, 0);
            }
            if (requests && Agent.changed(0, 0, 0)) Agent.ended("GET /");
        }
    }
}
