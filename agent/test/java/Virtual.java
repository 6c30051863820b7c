// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/** Virtual threads (21 and later, so by reflection) that contend, wait and notify. */
public final class Virtual {
    static int count;

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
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
        for (Thread t : threads) t.join();
        System.out.println("virtual " + count);
    }
}
