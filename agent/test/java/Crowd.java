// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts args[0] virtual threads (21 and later, so by reflection), a thousand at a time. Each parks once, is unparked and
 * ends. One thread does all of it and spins meanwhile, so the numbers of all events are known; with "calm" it sleeps, for
 * measurements. With "until" it continues until standard input ends. Prints the number of threads, peak memory in KiB, and
 * processor time in ms.
 */
public final class Crowd {
    private static final int BATCH = 1000;
    private static Method starter;
    private static boolean calm;
    private static int driven;

    static volatile int go;
    static volatile boolean over;

    static Thread start(Runnable body) throws Exception {
        return (Thread) starter.invoke(null, body);
    }

    static void await(Thread thread, Thread.State state) {
        while (thread.getState() != state) {
            if (calm) {
                LockSupport.parkNanos(100_000);
            } else {
                Thread.yield();
            }
        }
    }

    /** Parks until the batch may go. */
    static void wait(int batch) {
        while (go < batch) LockSupport.park();
    }

    static void drive(int count) {
        try {
            Thread[] threads = new Thread[BATCH];
            for (int batch = 1; driven < count || !over; batch++, driven += BATCH) {
                int turn = batch;
                for (int i = 0; i < BATCH; i++) threads[i] = start(() -> wait(turn));
                for (Thread t : threads) await(t, Thread.State.WAITING);
                go = turn;
                for (Thread t : threads) LockSupport.unpark(t);
                for (Thread t : threads) await(t, Thread.State.TERMINATED);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        String way = args.length > 1 ? args[1] : "";
        calm = way.equals("calm");
        over = !way.equals("until");
        starter = Thread.class.getMethod("startVirtualThread", Runnable.class);
        System.out.println("begun");
        Thread driver = new Thread(() -> drive(count), "driver");
        driver.start();
        while (!over && System.in.read() >= 0) {}
        over = true;
        driver.join();
        System.out.printf("crowd threads=%d peak=%s cpu=%d%n", driven, peak(), cpu());
    }

    private static String peak() throws Exception {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) return line.replaceAll("[^0-9]", "");
        }
        throw new IllegalStateException("no VmHWM");
    }

    /** Of the process: user and system time, in hundredths of a second. */
    private static long cpu() throws Exception {
        String stat = new String(Files.readAllBytes(Paths.get("/proc/self/stat")));
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return 10 * (Long.parseLong(fields[11]) + Long.parseLong(fields[12]));
    }
}
