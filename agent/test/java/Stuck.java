// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

// Threads in each state before an agent is attached: blocked, deadlocked, waiting, joining, parked,
// sleeping. Prints "stuck"; then each line of standard input is a command:
//   work N   N notifies by main
//   free     unblocks all threads except the deadlocked ones, and prints "free"
//   end      ends
public class Stuck {
    static final class Held {}
    static final class Left {}
    static final class Right {}
    static final class Awaited {}
    static final class Worked {}

    static final Object held = new Held();
    static final Object awaited = new Awaited();
    static final Object worked = new Worked();
    static final ReentrantLock lock = new ReentrantLock();
    static final CountDownLatch release = new CountDownLatch(1);
    static final CountDownLatch holding = new CountDownLatch(1);
    static volatile boolean go;

    interface Body {
        void run() throws Exception;
    }

    static Thread start(String name, Body body) {
        Thread t = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** A thread that waits at itself, and is notified there. */
    static class Worker extends Thread {
        Worker() {
            super("worker");
            setDaemon(true);
        }

        @Override
        public synchronized void run() {
            try {
                while (!go) wait();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static void until(Thread t, Thread.State... states) throws Exception {
        for (;;) {
            Thread.State now = t.getState();
            for (Thread.State s : states) {
                if (now == s) {
                    return;
                }
            }
            Thread.yield();
        }
    }

    static void deadlock() throws Exception {
        Object left = new Left();
        Object right = new Right();
        CountDownLatch both = new CountDownLatch(2);
        Thread a = start("dead-a", () -> {
            synchronized (left) {
                both.countDown();
                both.await();
                synchronized (right) {
                    throw new IllegalStateException("not reached");
                }
            }
        });
        Thread b = start("dead-b", () -> {
            synchronized (right) {
                both.countDown();
                both.await();
                synchronized (left) {
                    throw new IllegalStateException("not reached");
                }
            }
        });
        until(a, Thread.State.BLOCKED);
        until(b, Thread.State.BLOCKED);
    }

    public static void main(String[] args) throws Exception {
        deadlock();
        Thread holder = start("holder", () -> {
            synchronized (held) {
                lock.lock();
                holding.countDown();
                release.await();
                lock.unlock();
            }
        });
        holding.await();
        until(holder, Thread.State.WAITING);
        Thread blocked = start("blocked", () -> {
            synchronized (held) {
                go = true;
            }
        });
        Thread waiting = start("waiting", () -> {
            synchronized (awaited) {
                while (!go) {
                    awaited.wait();
                }
            }
        });
        Thread joining = start("joining", holder::join);
        Thread worker = new Worker();
        worker.start();
        Thread parked = start("parked", () -> {
            lock.lock();
            lock.unlock();
        });
        Thread bare = start("bare", () -> {
            while (!go) {
                LockSupport.park();
            }
        });
        Thread sleeping = start("sleeping", () -> {
            try {
                Thread.sleep(86_400_000);
            } catch (InterruptedException expected) {
                // it is to go on
            }
        });
        until(blocked, Thread.State.BLOCKED);
        until(waiting, Thread.State.WAITING);
        until(joining, Thread.State.WAITING);
        until(worker, Thread.State.WAITING);
        until(parked, Thread.State.WAITING);
        until(bare, Thread.State.WAITING);
        until(sleeping, Thread.State.TIMED_WAITING);
        System.out.println("stuck");

        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("work")) {
                for (int i = Integer.parseInt(words[1]); i > 0; i--) {
                    synchronized (worked) {
                        worked.notify();
                    }
                }
                System.out.println("worked");
            } else if (words[0].equals("free")) {
                release.countDown();
                blocked.join();
                synchronized (awaited) {
                    awaited.notifyAll();
                }
                synchronized (worker) {
                    worker.notify();
                }
                LockSupport.unpark(bare);
                sleeping.interrupt();
                for (Thread t : new Thread[] {holder, waiting, joining, worker, parked, bare, sleeping}) {
                    t.join();
                }
                System.out.println("free");
            }
        }
    }
}
