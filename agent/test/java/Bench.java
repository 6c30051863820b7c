// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Prints what a synchronized notify costs, and makes monitors busy for the callbacks to be timed. */
public final class Bench {
    static int turn;
    static int sum;

    public static void main(String[] args) throws Exception {
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 20; i++) best = Math.min(best, deep(20, 0));
        System.out.printf("  %-42s %8.1f%n", "synchronized + notify, as Java sees it", best);
        pingPong(Integer.getInteger("rounds", 100_000));
        contend(Integer.getInteger("enters", 30_000));
    }

    /** Twenty frames below the measured loop, so that stacks have some depth. */
    static double deep(int depth, int ignored) {
        return depth == 0 ? notifies() : deep(depth - 1, depth);
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
            threads[t] = new Thread(() -> deepPing(20, lock, me, rounds));
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

    static void contend(int enters) throws Exception {
        Object lock = new Object();
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> deepContend(20, lock, enters / 4));
        }
        for (Thread t : threads) t.start();
        for (Thread t : threads) t.join();
    }

    static void deepContend(int depth, Object lock, int rounds) {
        if (depth > 0) {
            deepContend(depth - 1, lock, rounds);
            return;
        }
        for (int i = 0; i < rounds; i++) {
            synchronized (lock) {
                Thread.yield();
                sum++;
            }
        }
    }
}
