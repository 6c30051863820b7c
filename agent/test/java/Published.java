// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.github.weftotel.context.Agent;

/**
 * Threads whose current span a native library publishes. The argument is its path. Prints what they must report, as Contexts does, if its
 * flags say which spans are sampled, or (with "flagless") if they are always 0, which the process context may state ("described").
 */
public final class Published {
    static boolean flagless;

    static native void publish(long trace, long span, boolean valid, byte flags);

    static native boolean describe();

    static void sleep(Object changed) throws InterruptedException {
        if (changed != null) log("context - span=" + changed);
        log("sleepStart - -");
        log("sleepEnd - -");
        Thread.sleep(1);
    }

    static void log(String what) {
        System.out.println(Thread.currentThread().getName() + " " + what);
    }

    static void request() {
        byte sampled = (byte) (flagless ? 0 : 1);
        log("threadStart - -");
        try {
            sleep(null);
            publish(1, 2, true, sampled);
            publish(1, 3, true, sampled);
            sleep(3);
            sleep(null);
            publish(1, 2, true, sampled);
            sleep(2);
            publish(1, 2, false, sampled); // invalid
            sleep(0);
            publish(0x7, 0x8000000000000001L, true, (byte) 0); // unsampled
            sleep(flagless ? "8000000000000001" : null);
            publish(0, 0, true, sampled);
            sleep(flagless ? 0 : null);
            publish(1, 9, true, sampled);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        log("threadEnd - -");
    }

    /** A span that counted when the application began to report its own: it counts no longer. */
    static void overtaken() {
        log("threadStart - -");
        try {
            publish(1, 6, true, (byte) 1);
            sleep(6);
            Thread jar = new Thread(() -> Agent.changed(1, 1, 5), "jar");
            jar.start();
            log("startCalled - jar");
            while (jar.isAlive()) Thread.yield();
            publish(0, 0, true, (byte) 1);
            sleep(0);
            sleep(null);
            if (Agent.changed(0, 0, 0)) throw new AssertionError("a request has waited");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        log("threadEnd - -");
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        flagless = args.length > 1;
        if (args.length > 2 && !describe()) throw new AssertionError("no process context");
        System.out.println("ready");
        System.in.read();
        for (int i = 0; i < 2; i++) {
            Thread t = new Thread(Published::request, "worker-" + i);
            t.start();
            t.join();
        }
        Thread t = new Thread(Published::overtaken, "worker-overtaken");
        t.start();
        t.join();
        t = new Thread(() -> { // from here on, only what the application reports counts
            log("threadStart - -");
            try {
                publish(1, 4, true, (byte) 1);
                Agent.changed(1, 1, 5);
                sleep(5);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            log("threadEnd - -");
        }, "worker-jar");
        t.start();
        t.join();
        System.out.println("over");
        System.in.read();
    }
}
