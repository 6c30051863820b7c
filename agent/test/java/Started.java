// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Prints a word. Before that, "virtual" runs a virtual thread that parks; after it, "wait" waits for input, and "later" lets a virtual
 * thread park 100 times that was started before.
 */
public final class Started {
    static final class Parked {}

    public static void main(String[] args) throws Exception {
        String what = args.length == 0 ? "" : args[0];
        CountDownLatch begun = new CountDownLatch(1), input = new CountDownLatch(1);
        Thread virtual = null;
        if (what.equals("virtual") || what.equals("later")) {
            virtual = start(new Runnable() {
                @Override
                public void run() {
                    begun.countDown();
                    if (what.equals("later")) parkLater(input);
                    else {
                        Thread.yield(); // loads what the JDK otherwise needs only if the park is over before its unmount
                        LockSupport.parkNanos(1_000_000);
                    }
                }
            });
            begun.await();
        }
        if (what.equals("virtual")) virtual.join();
        System.out.println("ready");
        if (what.equals("wait") || what.equals("later")) System.in.read();
        input.countDown();
        if (what.equals("later")) {
            virtual.join();
            System.out.println("parked");
            System.in.read();
        }
    }

    static Thread start(Runnable work) throws Exception {
        return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
    }

    static void parkLater(CountDownLatch input) {
        try {
            input.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        Parked lock = new Parked();
        for (int i = 0; i < 100; i++) LockSupport.parkNanos(lock, 1_000_000);
    }
}
