// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/**
 * Waits shorter and longer than a minimum duration (args[0], in ms), and a deadlock. Prints how many of each kind must be sent:
 * "name least most". A wait that is longer when measured from outside may be long enough; one requested to be longer is.
 */
public final class Durations {
    static final class Left {}
    static final class Right {}
    static final class Brief {}
    static final class Parked {}
    static final class Lasting {}
    static final class Notified {}

    interface Wait {
        void run() throws InterruptedException;
    }

    static final int WORKERS = 4;
    static final int NOTIFIES = 50_000;
    static final int SHORT = 200;
    static final int LONG = 2;
    static long least;

    static volatile int finished;
    static volatile int ready;

    final int[] maybe = new int[3];

    public static void main(String[] args) throws Exception {
        least = Long.parseLong(args[0]) * 1_000_000;
        deadlock();
        Durations first = new Durations(); // loads all classes: no worker waits for class loading
        first.work(1, 1, 0);
        Durations[] all = new Durations[WORKERS];
        Thread[] threads = new Thread[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            Durations d = all[i] = new Durations();
            threads[i] = new Thread(() -> {
                try {
                    d.work(NOTIFIES, SHORT, LONG);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }, "worker-" + i);
            threads[i].start();
        }
        for (Thread t : threads) t.join();
        int[] maybe = new int[3]; // of the workers
        for (Durations d : all) {
            for (int i = 0; i < maybe.length; i++) maybe[i] += d.maybe[i];
        }
        expect("Durations$Left.contendedEnter", 1, 1);
        expect("Durations$Right.contendedEnter", 1, 1);
        expect("Durations$Left.owned", 1, 1);
        expect("Durations$Right.owned", 1, 1);
        for (String end : new String[] {"wait", "waited", "waitReturned"}) {
            expect("Durations$Brief." + end, 0, maybe[0] + first.maybe[0]);
            expect("Durations$Lasting." + end, WORKERS * LONG, WORKERS * LONG);
        }
        expect("Durations$Parked.park", 0, maybe[1] + first.maybe[1]);
        expect("worker.sleepStart", WORKERS, WORKERS + maybe[2]);
        expect("worker.sleepEnd", WORKERS, WORKERS + maybe[2]);
        expect("Durations$Notified.notify", WORKERS * NOTIFIES + 1, WORKERS * NOTIFIES + 1);
        expect("worker.threadStart", WORKERS, WORKERS);
        expect("worker.threadEnd", WORKERS, WORKERS);
        // Of the workers, sent or lost: long waits, other events, and possibly long waits.
        int happened = WORKERS * (NOTIFIES + 3 * LONG + 2 + 2);
        expect("happened", happened, happened + 3 * maybe[0] + 2 * maybe[1] + 2 * maybe[2]);
    }

    static void expect(String name, int least, int most) {
        System.out.println(name + " " + least + " " + most);
    }

    void work(int notifies, int briefs, int lastings) throws InterruptedException {
        Notified notified = new Notified();
        synchronized (notified) {
            for (int i = 0; i < notifies; i++) notified.notify();
        }
        Brief brief = new Brief();
        Parked parked = new Parked();
        for (int i = 0; i < briefs; i++) {
            measure(0, () -> {
                synchronized (brief) {
                    brief.wait(0, 100_000);
                }
            });
            measure(1, () -> LockSupport.parkNanos(parked, 100_000));
            measure(2, () -> Thread.sleep(0));
        }
        Lasting lasting = new Lasting();
        for (int i = 0; i < lastings; i++) {
            long end = System.nanoTime() + least + 50_000_000;
            synchronized (lasting) {
                lasting.wait((end - System.nanoTime()) / 1_000_000 + 1);
            }
        }
        Thread.sleep(least / 1_000_000 + 50);
    }

    void measure(int kind, Wait wait) throws InterruptedException {
        long began = System.nanoTime();
        wait.run();
        if (System.nanoTime() - began >= least) maybe[kind]++;
    }

    static void deadlock() {
        Object left = new Left();
        Object right = new Right();
        Thread a = dead(left, right);
        Thread b = dead(right, left);
        while (a.getState() != Thread.State.BLOCKED || b.getState() != Thread.State.BLOCKED) Thread.yield();
    }

    static Thread dead(Object mine, Object other) {
        Thread t = new Thread(() -> {
            synchronized (mine) {
                ready++;
                while (ready < 2) Thread.yield();
                synchronized (other) {
                    throw new IllegalStateException("not reached");
                }
            }
        }, "dead");
        t.setDaemon(true);
        t.start();
        while (ready == 0) Thread.yield();
        return t;
    }
}
