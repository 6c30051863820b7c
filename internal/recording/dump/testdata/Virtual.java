// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Starts virtual threads, of Java 21 and later. */
class Virtual {
    static void start() {
        Thread.ofVirtual().name("guest-1").start(Shop::order);
        Thread.ofVirtual().name("guest-2").start(Shop.till::lock);
        Thread.ofVirtual().name("guest-3").start(Shop::nap);
        Thread.ofVirtual().name("guest-4").start(() -> {
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
