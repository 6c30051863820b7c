// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Repeats one operation about twenty frames deep, and prints "result", operations, wall time and CPU time of the process in ns. */
public final class Workloads {
    interface Work { void run(int count) throws Exception; }

    static final Object lock = new Object();
    static volatile int parkTurn;
    static int turn;
    static volatile long sink;

    public static void main(String[] args) throws Exception {
        Map<String, Work> all = new HashMap<>();
        all.put("contended", Workloads::contended);
        all.put("wait-notify", Workloads::pingPong);
        all.put("park-unpark", Workloads::parkPingPong);
        all.put("uncontended", Workloads::uncontended);
        all.put("start-join", Workloads::startJoin);
        all.put("notify-loop", Workloads::notifies);
        all.put("park-loop", Workloads::parks);
        Work work = all.get(args[0]);
        int count = Integer.parseInt(args[1]);
        deep(20, work, count / 2);
        long wall = System.nanoTime(), cpu = cpu();
        deep(20, work, count);
        System.out.println("result " + count + " " + (System.nanoTime() - wall) + " " + (cpu() - cpu));
    }

    static long cpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    static void deep(int depth, Work work, int count) throws Exception {
        if (depth > 0) deep(depth - 1, work, count);
        else work.run(count);
    }

    static void together(int threads, Work work, int count) throws Exception {
        Thread[] all = new Thread[threads];
        for (int t = 0; t < threads; t++) {
            all[t] = new Thread(() -> {
                try {
                    deep(20, work, count);
                } catch (Exception e) {
                    e.printStackTrace();
                    System.exit(1);
                }
            });
        }
        for (Thread t : all) t.start();
        for (Thread t : all) t.join();
    }

    /** Four threads; the owner of the lock yields, so that the others contend for it. */
    static void contended(int count) throws Exception {
        together(4, n -> {
            for (int i = 0; i < n; i++) {
                synchronized (lock) {
                    spin(300);
                    Thread.yield();
                    spin(300);
                }
                spin(2_000);
            }
        }, count / 4);
    }

    static void spin(int n) {
        long x = sink;
        for (int i = 0; i < n; i++) x = x * 31 + i;
        sink = x;
    }

    static void pingPong(int count) throws Exception {
        turn = 0;
        int[] next = {0};
        together(2, n -> {
            int me;
            synchronized (next) { me = next[0]++; }
            for (int i = 0; i < n; i++) {
                synchronized (lock) {
                    while (turn != me) lock.wait();
                    turn = 1 - me;
                    lock.notify();
                }
            }
        }, count);
    }

    static void parkPingPong(int count) throws Exception {
        parkTurn = 0;
        Thread[] both = new Thread[2];
        int[] next = {0};
        together(2, n -> {
            int me;
            synchronized (both) {
                me = next[0]++;
                both[me] = Thread.currentThread();
                both.notifyAll();
                while (next[0] < 2) both.wait();
            }
            for (int i = 0; i < n; i++) {
                while (parkTurn != me) LockSupport.park(both);
                parkTurn = 1 - me;
                LockSupport.unpark(both[1 - me]);
            }
        }, count);
    }

    /** Uncontended locks, and other work of a program. */
    static void uncontended(int count) throws Exception {
        together(2, n -> {
            Object mine = new Object();
            ReentrantLock own = new ReentrantLock();
            ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
            for (int i = 0; i < n; i++) {
                synchronized (mine) {
                    sink = i;
                }
                own.lock();
                try {
                    map.merge(i & 1023, 1, Integer::sum);
                } finally {
                    own.unlock();
                }
            }
        }, count / 2);
    }

    static void startJoin(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread t = new Thread(() -> sink++);
            t.start();
            t.join();
        }
    }

    static void notifies(int count) {
        for (int i = 0; i < count; i++) {
            synchronized (lock) {
                lock.notify();
            }
        }
    }

    /** Parks of an interrupted thread return at once. */
    static void parks(int count) {
        Thread.currentThread().interrupt();
        for (int i = 0; i < count; i++) LockSupport.park(lock);
        Thread.interrupted();
    }
}
