// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Starts args[0] short threads, eight at a time. With args[1] their names have that many additional characters, and the peak
 * memory of the process is printed in KiB.
 */
public final class Churn {
    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        String more = args.length > 1 ? "-".repeat(Integer.parseInt(args[1])) : "";
        Thread[] threads = new Thread[8];
        for (int i = 0; i < count; i += threads.length) {
            for (int j = 0; j < threads.length; j++) {
                threads[j] = new Thread(() -> { }, "worker-" + j + more);
                threads[j].start();
            }
            for (Thread t : threads) t.join();
        }
        if (args.length == 1) {
            System.out.println("churned " + count);
            return;
        }
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) System.out.println(line.replaceAll("[^0-9]", ""));
        }
    }
}
