// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.github.weftotel.context.Agent;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.Scanner;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;

/**
 * Virtual threads (21 and later, so by reflection) that share one carrier: what other programs see is the span of the one that runs. The
 * arguments are the library that looks, and the agent. On each command it prints what is wrong, or "right".
 */
public final class Carried {
    static final Queue<String> wrong = new ConcurrentLinkedQueue<>();

    static String agent;
    static Thread holder;
    static volatile boolean held;
    static volatile boolean released;

    /** The last byte of the span's id; 0: none. */
    static native int published(String agent);

    static void sees(String who, int expected) {
        int span = published(agent);
        if (span != expected) wrong.add(who + " has span " + expected + ", others see " + span);
    }

    static Thread virtual(Runnable body) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        return (Thread) start.invoke(null, body);
    }

    static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static boolean isShared() throws Exception {
        return new String(Files.readAllBytes(Path.of("/proc/self/maps"))).contains("OTEL_CTX");
    }

    /** Makes the agent publish spans. */
    static void share() throws Exception {
        Agent.changed(1, 1, 1);
        Agent.changed(0, 0, 0);
        while (!isShared()) Thread.sleep(1);
    }

    /** One thread with a span waits, so another one runs on its carrier. */
    static void alternate() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch goes = new CountDownLatch(1);
        Thread first = virtual(() -> {
            sees("a new thread", 0);
            Agent.changed(1, 1, 77);
            sees("a thread", 77);
            waits.countDown();
            await(goes);
            sees("a thread after its wait", 77);
            Agent.changed(0, 0, 0);
            Agent.ended(null);
            sees("a thread after its request", 0);
        });
        waits.await();
        virtual(() -> sees("another thread", 0)).join();
        goes.countDown();
        first.join();
        virtual(() -> sees("a later thread", 0)).join();
    }

    /** A thread with a span keeps its carrier until it is released. */
    static void hold() throws Exception {
        released = held = false;
        holder = virtual(() -> {
            Agent.changed(1, 1, 78);
            held = true;
            while (!released) Thread.onSpinWait();
            sees("a running thread", 78);
            Agent.changed(0, 0, 0);
            Agent.ended(null);
            sees("a running thread after its request", 0);
            Agent.changed(1, 1, 79); // it ends with a span
        });
        while (!held) Thread.sleep(1);
    }

    static void release() throws Exception {
        released = true;
        holder.join();
        virtual(() -> sees("a later thread", 0)).join();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        agent = args[1];
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            switch (in.next()) {
                case "share": share(); break;
                case "alternate": alternate(); break;
                case "hold": hold(); break;
                case "release": release(); break;
                default: throw new IllegalArgumentException();
            }
            System.out.println(wrong.isEmpty() ? "right" : String.join("; ", wrong));
            wrong.clear();
        }
    }
}
