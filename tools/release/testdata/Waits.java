// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Two threads that compete for a lock until the program is killed. */
final class Waits {
    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> hold(lock), "holder-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.currentThread().join();
    }

    private static void hold(Object lock) {
        try {
            while (true) {
                synchronized (lock) {
                    Thread.sleep(5);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
