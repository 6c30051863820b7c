// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Works for args[1] rounds, prints some output, and ends in the way named by args[0]. */
public final class Ways {
    static volatile int sink;

    public static void main(String[] args) throws Exception {
        Object lock = new Object();
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 200;
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int j = 0; j < rounds; j++) {
                    synchronized (lock) {
                        byte[][] garbage = new byte[20][];
                        for (int k = 0; k < garbage.length; k++) garbage[k] = new byte[10_000];
                        sink += garbage.length;
                        lock.notifyAll();
                        try {
                            lock.wait(1);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            }, "worker-" + i);
            threads[i].start();
        }
        Thread forever = new Thread(() -> {
            synchronized (Ways.class) {
                while (true) {
                    try {
                        Ways.class.wait();
                    } catch (InterruptedException e) {
                        // stays
                    }
                }
            }
        });
        forever.setDaemon(true);
        forever.start();
        for (Thread t : threads) t.join();
        System.out.println("done " + sink);
        System.err.println("also done");
        switch (args[0]) {
            case "return": return;
            case "exit": System.exit(3); return;
            case "halt": Runtime.getRuntime().halt(4); return;
            case "throw": throw new IllegalStateException("wanted");
            case "fork":
                for (int i = 0; i < 20; i++) {
                    Process p = new ProcessBuilder("/bin/echo", "child").inheritIO().start();
                    p.waitFor();
                }
                return;
            case "term":
                System.out.println("ready");
                Thread.sleep(86_400_000);
                return;
            default: throw new IllegalArgumentException(args[0]);
        }
    }
}
