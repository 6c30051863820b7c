// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;

/** Four threads wait for a lock in turn, until the end of the input. For each of its lines, prints handovers so far and CPU time of the process in ns. */
public final class Handover {
    static final Object lock = new Object();
    static final LongAdder handovers = new LongAdder();
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            Thread t = new Thread(() -> {
                while (true) {
                    synchronized (lock) {
                        work(20_000);
                        handovers.increment();
                    }
                    work(5_000);
                }
            }, "worker-" + i);
            t.setDaemon(true);
            t.start();
        }
        var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        System.out.println("ready");
        while (System.in.read() >= 0) System.out.println(handovers.sum() + " " + os.getProcessCpuTime());
    }

    static void work(int rounds) {
        long x = sink;
        for (int i = 0; i < rounds; i++) x += x * 31 + i;
        sink = x;
    }
}
