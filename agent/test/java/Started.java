// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;

/** Prints a word. Before that, "virtual" runs a virtual thread that parks; after it, "wait" waits until standard input ends. */
public final class Started {
    public static void main(String[] args) throws Exception {
        String what = args.length == 0 ? "" : args[0];
        if (what.equals("virtual")) {
            Runnable work = new Runnable() {
                @Override
                public void run() {
                    LockSupport.parkNanos(1_000_000);
                }
            };
            ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)).join();
        }
        System.out.println("ready");
        if (what.equals("wait")) System.in.read();
    }
}
