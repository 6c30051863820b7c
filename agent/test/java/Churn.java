// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Starts many short threads, eight at a time: args[0] of them. */
public final class Churn {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[8];
        for (int i = 0; i < count; i += threads.length) {
            for (int j = 0; j < threads.length; j++) {
                threads[j] = new Thread(() -> { }, "worker-" + j);
                threads[j].start();
            }
            for (Thread t : threads) t.join();
        }
        System.out.println("churned " + count);
    }
}
