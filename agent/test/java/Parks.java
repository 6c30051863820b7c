// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Parks and unparks a known number of times; jvmtest.sh compares with the agent's events. */
public final class Parks {
    static final class Permit {}
    static final class Direct {}
    static final class Timed {}
    static final class Owned extends AbstractOwnableSynchronizer {
        Owned(Thread owner) { setExclusiveOwnerThread(owner); }
    }

    interface Body {
        void run() throws Exception;
    }

    static int started;
    static volatile int done;

    static void spinUntilDone(int count) {
        while (done < count) Thread.yield();
    }

    public static void main(String[] args) throws Exception {
        permits();
        timed();
        direct();
        locks();
        semaphore();
        latch();
        condition();
        queue();
        System.out.println("parked");
    }

    static Thread worker(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }, "worker-" + started++);
        thread.start();
        return thread;
    }

    static void parked(Thread thread) {
        while (thread.getState() != Thread.State.WAITING) Thread.yield();
    }

    /** Waits without join, so that main parks only where it counts. */
    static void ended(Thread... threads) {
        for (Thread t : threads) {
            while (t.isAlive()) Thread.yield();
        }
    }

    /** 200 000 parks with an available permit, and unparks by the same thread. 1000 more with an owner. */
    static void permits() {
        Permit blocker = new Permit();
        Owned owned = new Owned(Thread.currentThread());
        ended(worker(() -> {
            Thread self = Thread.currentThread();
            for (int i = 0; i < 200_000; i++) {
                LockSupport.unpark(self);
                LockSupport.park(blocker);
            }
            for (int i = 0; i < 1000; i++) {
                LockSupport.unpark(self);
                LockSupport.park(owned);
            }
        }));
    }

    /** 60 parks of main that time out: by a duration, a deadline, an expired deadline. */
    static void timed() {
        Timed blocker = new Timed();
        for (int i = 0; i < 20; i++) {
            LockSupport.parkNanos(blocker, 1_000_000);
            LockSupport.parkUntil(blocker, System.currentTimeMillis() + 2);
            LockSupport.parkUntil(blocker, 1);
        }
    }

    /** 100 with a blocker and 20 without one, each unparked once it is parked. */
    static void direct() {
        Direct blocker = new Direct();
        done = 0;
        Thread t = worker(() -> {
            for (int i = 0; i < 120; i++) {
                if (i < 100) LockSupport.park(blocker);
                else LockSupport.park();
                done = i + 1;
            }
        });
        for (int i = 0; i < 120; i++) {
            parked(t);
            LockSupport.unpark(t);
            spinUntilDone(i + 1);
        }
        ended(t);
    }

    /** 40 parks: ten times main holds the lock until four threads have queued up. Each owner wakes the next. */
    static void locks() {
        ReentrantLock lock = new ReentrantLock();
        for (int round = 0; round < 10; round++) {
            Thread[] threads = new Thread[4];
            lock.lock();
            for (int i = 0; i < threads.length; i++) {
                threads[i] = worker(() -> {
                    lock.lock();
                    lock.unlock();
                });
                parked(threads[i]);
            }
            lock.unlock();
            ended(threads);
        }
    }

    /** 20 acquires without a permit. */
    static void semaphore() {
        Semaphore semaphore = new Semaphore(0);
        done = 0;
        Thread t = worker(() -> {
            for (int i = 0; i < 20; i++) {
                semaphore.acquire();
                done = i + 1;
            }
        });
        for (int i = 0; i < 20; i++) {
            parked(t);
            semaphore.release();
            spinUntilDone(i + 1);
        }
        ended(t);
    }

    /** 4. */
    static void latch() {
        CountDownLatch latch = new CountDownLatch(1);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = worker(latch::await);
            parked(threads[i]);
        }
        latch.countDown();
        ended(threads);
    }

    /** 20 awaits, each signalled once it waits. */
    static void condition() {
        ReentrantLock lock = new ReentrantLock();
        Condition condition = lock.newCondition();
        for (int i = 0; i < 20; i++) {
            Thread t = worker(() -> {
                lock.lock();
                try {
                    condition.await();
                } finally {
                    lock.unlock();
                }
            });
            parked(t);
            lock.lock();
            try {
                condition.signal();
            } finally {
                lock.unlock();
            }
            ended(t);
        }
    }

    /** 30 takes from an empty queue. */
    static void queue() throws Exception {
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        done = 0;
        Thread t = worker(() -> {
            for (int i = 0; i < 30; i++) {
                queue.take();
                done = i + 1;
            }
        });
        for (int i = 0; i < 30; i++) {
            parked(t);
            queue.put(i);
            spinUntilDone(i + 1);
        }
        ended(t);
    }
}
