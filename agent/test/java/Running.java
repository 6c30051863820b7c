// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads (21 and later, so by reflection) that compute: "hog" starts two that compute until "end", while
 * others wait for a carrier; "churn N" starts threads that compute for up to 60 ms and park, N times together.
 * Prints how long each hog computed, by the agent's clock.
 */
public final class Running {
    static volatile boolean stop;
    static volatile long sink;

    static Thread start(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Thread thread = (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class).invoke(builder, body);
        thread.setName(name);
        thread.start();
        return thread;
    }

    static void add(int from) {
        long sum = sink;
        for (int i = from; i < from + 1000; i++) sum += i;
        sink = sum;
    }

    static void computeLeft() {
        for (int i = 0; !stop; i++) add(i);
    }

    static void computeRight() {
        for (int i = 0; !stop; i++) add(i);
    }

    static void computeBriefly(long nanos) {
        long end = System.nanoTime() + nanos;
        for (int i = 0; System.nanoTime() < end; i++) add(i);
    }

    static final long[] BEGINS = new long[2];
    static final long[] ENDS = new long[2];

    static void hog(int number, Runnable compute) {
        BEGINS[number] = System.nanoTime();
        compute.run();
        ENDS[number] = System.nanoTime();
    }

    static List<Thread> hogs() throws Exception {
        stop = false;
        List<Thread> all = new ArrayList<>();
        all.add(start("left", () -> hog(0, Running::computeLeft)));
        all.add(start("right", () -> hog(1, Running::computeRight)));
        for (int i = 0; i < 100; i++) all.add(start("brief-" + i, () -> computeBriefly(1000)));
        return all;
    }

    static void churn(int count) throws Exception {
        List<Thread> all = new ArrayList<>();
        int threads = 8;
        for (int i = 0; i < threads; i++) {
            all.add(start("brief-" + i, () -> {
                for (int j = 0; j < count / threads; j++) {
                    computeBriefly(ThreadLocalRandom.current().nextInt(60_000_000));
                    LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(2_000_000));
                }
            }));
        }
        for (Thread t : all) t.join();
        System.out.println("churned " + count / threads * threads);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        Scanner lines = new Scanner(System.in);
        List<Thread> hogs = new ArrayList<>();
        while (lines.hasNextLine()) {
            String[] words = lines.nextLine().split(" ");
            switch (words[0]) {
                case "hog":
                    hogs = hogs();
                    break;
                case "end":
                    stop = true;
                    for (Thread t : hogs) t.join();
                    System.out.println("hog left computeLeft " + BEGINS[0] + " " + ENDS[0]);
                    System.out.println("hog right computeRight " + BEGINS[1] + " " + ENDS[1]);
                    System.out.println("ended");
                    break;
                default:
                    churn(Integer.parseInt(words[1]));
            }
        }
    }
}
