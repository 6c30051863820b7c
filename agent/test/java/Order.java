// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Blocks, waits, parks and wakes in an order that is enforced step by step, and prints it as the receiver prints events: "thread kind class peer".
 * Main only looks at states; a thread does its next step once main has seen the previous one. Threads of failed attempts are reported as
 * void.
 */
public final class Order {
    static final class One {}
    static final class Two {}
    static final class Three {}
    static final class Bell {}
    static final class Blocker {}

    static final String MUTEX = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
    static final String LATCH = "java.util.concurrent.CountDownLatch$Sync";

    static final ConcurrentLinkedQueue<String> logged = new ConcurrentLinkedQueue<>();
    static final Set<String> failed = new HashSet<>(); // names of threads
    static volatile int step; // of main
    static volatile int reached; // by a worker

    interface Body {
        void run() throws Exception;
    }

    /** Records what the current thread does next. */
    static void log(String what) {
        logged.add(Thread.currentThread().getName() + " " + what);
    }

    static void until(int wanted) {
        while (step < wanted) Thread.yield();
    }

    static Thread worker(int number, Body body) {
        return new Thread(() -> {
            log("threadStart - -");
            try {
                body.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
            log("threadEnd - -");
        }, "worker-" + number);
    }

    static void untilReached(int wanted) {
        while (reached < wanted) Thread.yield();
    }

    /** Waits for a sleep or park, whose event precedes the state. Monitors differ: see Blocked. */
    static void reach(Thread t, Thread.State state) {
        while (t.getState() != state) Thread.yield();
    }

    static void ended(Thread... threads) {
        for (Thread t : threads) {
            while (t.isAlive()) Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        chain();
        notified();
        timedOut();
        interrupted();
        parked();
        mutex();
        latch();
        joined();
        for (String name : failed) System.out.println("void " + name);
        for (String line : logged) {
            if (!failed.contains(line.substring(0, line.indexOf(' ')))) System.out.println(line);
        }
    }

    /** Each waits for a monitor of its predecessor; they are released in sequence. */
    static void chain() throws Exception {
        Object one = new One();
        Object two = new Two();
        Object three = new Three();
        Thread a = worker(0, () -> {
            synchronized (one) {
                reached = 1;
                until(4);
            }
            until(5);
        });
        Thread b = worker(1, () -> {
            synchronized (two) {
                reached = 2;
                until(1);
                log("contendedEnter Order$One worker-0");
                synchronized (one) {
                    log("contendedEntered Order$One -");
                }
            }
            until(6);
        });
        Thread c = worker(2, () -> {
            synchronized (three) {
                reached = 3;
                until(2);
                log("contendedEnter Order$Two worker-1");
                synchronized (two) {
                    log("contendedEntered Order$Two -");
                }
            }
            until(7);
        });
        Thread d = worker(3, () -> {
            reached = 4;
            until(3);
            log("contendedEnter Order$Three worker-2");
            synchronized (three) {
                log("contendedEntered Order$Three -");
            }
        });
        step = reached = 0;
        Thread[] all = {a, b, c, d};
        Object[] locks = {one, two, three};
        for (int i = 0; i < all.length; i++) {
            all[i].start();
            untilReached(i + 1);
        }
        for (int i = 1; i < all.length; i++) {
            step = i;
            Blocked.await(locks[i - 1], all[i]);
        }
        step = 4;
        ended(d);
        for (int i = 5; i <= 7; i++) {
            step = i;
            ended(all[i - 5]);
        }
    }

    static Thread start(int number, Body body) throws Exception {
        int before = logged.size();
        Thread t = worker(number, body);
        t.start();
        while (logged.size() == before) Thread.yield();
        return t;
    }

    /** A wait that another thread ends; it continues when that thread has left the monitor. */
    static void notified() throws Exception {
        Object bell = new Bell();
        step = 0;
        Thread a = start(0, () -> {
            synchronized (bell) {
                log("wait Order$Bell -");
                bell.wait();
                log("waited Order$Bell -");
                log("waitReturned Order$Bell -");
            }
        });
        Blocked.awaitWait(a);
        Thread b = start(1, () -> {
            synchronized (bell) {
                log("notify Order$Bell -");
                bell.notify();
                log("notifyAll Order$Bell -");
                bell.notifyAll();
            }
            until(1);
        });
        ended(a);
        step = 1;
        ended(b);
    }

    /** A wait that times out while another thread owns the monitor; repeated with longer timeouts until that thread is in time. */
    static void timedOut() throws Exception {
        for (int i = 10, millis = 100; !timedOut(i, millis); i += 2, millis *= 2) {
            failed.add("worker-" + i);
            failed.add("worker-" + (i + 1));
        }
    }

    static boolean timedOut(int number, int millis) throws Exception {
        Object bell = new Bell();
        Thread[] a = {null};
        boolean[] inTime = {false};
        step = reached = 0;
        Thread b = start(number + 1, () -> {
            until(1);
            synchronized (bell) {
                Thread.State state = a[0].getState(); // while it cannot leave its wait, if it has not yet
                inTime[0] = state == Thread.State.TIMED_WAITING || state == Thread.State.BLOCKED;
                if (inTime[0]) {
                    logged.add("worker-" + number + " waited Order$Bell - timedOut");
                    logged.add("worker-" + number + " contendedEnter Order$Bell worker-" + (number + 1));
                }
                reached = 1;
                until(2);
            }
            until(3);
        });
        a[0] = start(number, () -> {
            synchronized (bell) {
                log("wait Order$Bell -");
                bell.wait(millis);
                log("contendedEntered Order$Bell -");
                log("waitReturned Order$Bell -");
            }
        });
        Blocked.awaitWait(a[0]);
        step = 1;
        untilReached(1);
        if (inTime[0]) Blocked.await(bell, a[0]);
        step = 2;
        ended(a);
        step = 3;
        ended(b);
        return inTime[0];
    }

    static void interrupted() throws Exception {
        Thread a = start(0, () -> {
            log("sleepStart - -");
            try {
                Thread.sleep(86_400_000);
                throw new AssertionError();
            } catch (InterruptedException e) {
                log("interrupted - - interrupted");
                log("sleepEnd - - interrupted");
            }
        });
        reach(a, Thread.State.TIMED_WAITING);
        step = 0;
        Thread b = start(1, () -> {
            log("interruptCalled - worker-0");
            a.interrupt();
            until(1);
        });
        ended(a);
        step = 1;
        ended(b);
    }

    static void parked() throws Exception {
        Object blocker = new Blocker();
        step = 0;
        Thread a = start(0, () -> {
            log("park Order$Blocker -");
            LockSupport.park(blocker);
            log("unparked - -");
        });
        reach(a, Thread.State.WAITING);
        Thread b = start(1, () -> {
            log("unpark - worker-0");
            LockSupport.unpark(a);
            until(1);
        });
        ended(a);
        step = 1;
        ended(b);
    }

    /** Two threads want a lock and get it in the order of their arrival. */
    static void mutex() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        step = 0;
        Thread a = start(0, () -> {
            lock.lock();
            until(1);
            log("unpark - worker-1");
            lock.unlock();
            until(3);
        });
        while (!lock.isLocked()) Thread.yield();
        Thread[] others = new Thread[2];
        for (int i = 1; i <= 2; i++) {
            boolean first = i == 1;
            others[i - 1] = start(i, () -> {
                log("park " + MUTEX + " worker-0");
                lock.lock();
                log("unparked - -");
                until(2);
                if (first) log("unpark - worker-2");
                lock.unlock();
                until(first ? 4 : 5);
            });
            reach(others[i - 1], Thread.State.WAITING);
        }
        int before = logged.size();
        step = 1;
        while (logged.size() < before + 2) Thread.yield();
        step = 2;
        while (logged.size() < before + 4) Thread.yield();
        step = 3;
        ended(a);
        step = 4;
        ended(others[0]);
        step = 5;
        ended(others[1]);
    }

    static void latch() throws Exception {
        CountDownLatch latch = new CountDownLatch(1);
        step = 0;
        Thread a = start(0, () -> {
            log("park " + LATCH + " -");
            latch.await();
            log("unparked - -");
        });
        reach(a, Thread.State.WAITING);
        Thread b = start(1, () -> {
            log("unpark - worker-0");
            latch.countDown();
            until(1);
        });
        ended(a);
        step = 1;
        ended(b);
    }

    /** A thread starts another and joins it. */
    static void joined() throws Exception {
        step = 0;
        int before = logged.size();
        Thread b = worker(1, () -> until(2));
        Thread a = start(0, () -> {
            log("startCalled - worker-1");
            b.start();
            until(1);
            log("joinStart java.lang.Thread worker-1");
            b.join();
            log("waited java.lang.Thread -");
            log("joinEnd java.lang.Thread worker-1");
        });
        while (logged.size() < before + 3) Thread.yield();
        step = 1;
        Blocked.awaitWait(a);
        step = 2;
        ended(a, b);
    }
}
