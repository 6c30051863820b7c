// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Four threads, each in its own way, wait for the initialization of a class by a fifth, until a line is read. Then two
 * threads wait for each other's classes without end; the program ends with the next line.
 */
public final class Initializing {
    static final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));

    /** Its initializer waits for a line. */
    static class Slow {
        static int value;

        static {
            read();
            value = 1;
        }

        static void use() {}
    }

    /** Needs Right. */
    static class Left {
        static int value = both(Right.class) + Right.value;

        static void use() {}
    }

    /** Needs Left. */
    static class Right {
        static int value = both(Left.class) + Left.value;

        static void use() {}
    }

    private static int arrived;

    /** Returns when both initializers run. */
    static int both(Class<?> other) {
        synchronized (Initializing.class) {
            arrived++;
            Initializing.class.notifyAll();
            try {
                while (arrived < 2) Initializing.class.wait();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return 0;
    }

    static void read() {
        try {
            lines.readLine();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void find() {
        try {
            Class.forName("Initializing$Slow");
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Thread> none = new ArrayList<>();
        System.out.println("ready");
        Thread holder = start("holder", Slow::use);
        for (Runnable use : List.<Runnable>of(Slow::use, Slow::new, () -> none.contains(Slow.value), Initializing::find)) {
            start("waiter", () -> {
                use.run();
                while (true) LockSupport.park(); // a thread that ends at once is not seen to have left the wait
            });
        }
        holder.join();
        start("left", Left::use);
        start("right", Right::use);
        System.out.println("stuck");
        read();
    }
}
