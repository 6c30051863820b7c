// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads (21 and later, so by reflection) that contend, wait, notify and park. */
public final class Virtual {
    static final class Lock {}

    static int count;
    static volatile int woken;

    public static void main(String[] args) throws Exception {
        Lock lock = new Lock();
        var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            threads.add((Thread) start.invoke(null, (Runnable) () -> {
                for (int j = 0; j < 20; j++) {
                    synchronized (lock) {
                        count++;
                        lock.notify();
                        try {
                            lock.wait(2);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }));
        }
        for (int i = 0; i < 500; i++) {
            threads.add((Thread) start.invoke(null, (Runnable) () -> {
                for (int j = 0; j < 20; j++) LockSupport.parkNanos(1_000_000);
            }));
        }
        for (Thread t : threads) t.join();
        Thread worker = new Thread(() -> {
            for (int i = 1; i <= 100; i++) {
                LockSupport.park();
                woken = i;
            }
        }, "worker-0");
        worker.start();
        Thread waker = (Thread) start.invoke(null, (Runnable) () -> {
            for (int i = 1; i <= 100; i++) {
                // A park may also return without an unpark.
                while (worker.getState() != Thread.State.WAITING && woken < i) Thread.onSpinWait();
                LockSupport.unpark(worker);
                while (woken < i) Thread.onSpinWait();
            }
        });
        waker.join();
        worker.join();
        System.out.println("virtual " + count);
    }
}
