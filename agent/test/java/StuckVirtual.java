// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

// StuckVirtual N: N virtual threads (21 and later, so by reflection) wait in each way before an agent is attached: at a lock, in an
// executor at a latch, and asleep. N more, at most 100, park again and again, every other one for a millisecond, the rest for 100:
// an agent that is attached again finds those in a park that began while it was detached. Prints "stuck", then reads lines:
//   free     ends the waits and prints "free"
//   end      ends
public class StuckVirtual {
    private static final ReentrantLock lock = new ReentrantLock();
    private static final CountDownLatch latch = new CountDownLatch(1);
    private static final List<Thread> threads = new ArrayList<>();
    private static volatile boolean over;

    private static void start(String name, Runnable body) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, name);
        Thread started = (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
        synchronized (threads) {
            threads.add(started);
        }
    }

    private static void locked() {
        lock.lock();
        lock.unlock();
    }

    private static void asleep() {
        try {
            Thread.sleep(86_400_000);
        } catch (InterruptedException expected) {
            // the end of the sleep
        }
    }

    private static void awaiting() {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void restless(long nanoseconds) {
        while (!over) LockSupport.parkNanos(nanoseconds);
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        lock.lock();
        ExecutorService executor = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        for (int i = 0; i < count; i++) {
            start("locked-" + i, StuckVirtual::locked);
            start("asleep-" + i, StuckVirtual::asleep);
            long nanoseconds = i % 2 == 0 ? 1_000_000 : 100_000_000;
            if (i < 100) start("restless-" + i, () -> restless(nanoseconds));
            executor.execute(
                () -> {
                    synchronized (threads) {
                        threads.add(Thread.currentThread());
                    }
                    awaiting();
                });
        }
        for (;;) {
            int waiting = 0;
            synchronized (threads) {
                for (Thread t : threads) {
                    Thread.State state = t.getState();
                    if (!t.getName().startsWith("restless") && (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)) waiting++;
                }
            }
            if (waiting == 3 * count) break;
            Thread.sleep(10);
        }
        System.out.println("stuck");
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
            over = true;
            latch.countDown();
            lock.unlock();
            for (Thread t : threads) {
                if (t.getName().startsWith("asleep")) t.interrupt();
            }
            for (Thread t : threads) t.join();
            System.out.println("free");
        }
    }
}
