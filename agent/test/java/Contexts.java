// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import io.github.weftotel.context.Agent;
import java.util.Queue;
import java.util.Scanner;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads with a current span, some of which wait. It prints what each of them must report, as the receiver prints events: "thread kind
 * class peer", or "thread kind name span=id".
 */
public final class Contexts {
    static final class Lock {}

    static final String MUTEX = "java.util.concurrent.locks.ReentrantLock$NonfairSync";

    /** Sleeps shorter and longer than the minimum duration, if there is one. */
    static final long SHORT = 1;

    static final long LONG = Long.getLong("long", 1);

    static final boolean MINIMUM = Boolean.getBoolean("minimum");

    /** Nothing is recorded. */
    static final boolean SILENT = Boolean.getBoolean("silent");

    static final Queue<String> logged = new ConcurrentLinkedQueue<>();

    static volatile int step;
    static volatile int reached;

    interface Body {
        void run() throws Exception;
    }

    static void log(String what) {
        logged.add(Thread.currentThread().getName() + " " + what);
    }

    static void until(int wanted) {
        while (step < wanted) Thread.yield();
    }

    static Thread worker(String name, Body body) {
        Thread t = new Thread(() -> {
            log("threadStart - -");
            run(body);
            log("threadEnd - -");
        }, "worker-" + name);
        t.start();
        return t;
    }

    static void run(Body body) {
        try {
            body.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Makes a span current of which the collector must hear nothing now. */
    static void quietly(long span) {
        if (Agent.changed(span == 0 ? 0 : -1, span, span)) throw new AssertionError("a request ends that has not waited");
    }

    /** Makes a span current when the collector knows the one before. */
    static void loudly(long span) {
        log("context - span=" + Long.toHexString(span));
        quietly(span);
    }

    static void end(String name, long span) {
        if (Agent.changed(0, 0, 0) == SILENT) throw new AssertionError("a request has waited, or has not");
        Agent.ended(name);
        logEnd(name, span);
    }

    static void logEnd(String name, long span) {
        log("requestEnd " + (name == null ? "-" : name) + " span=" + Long.toHexString(span));
        log("context - span=0");
    }

    /** Sleeps while a span is current that the collector does not know. */
    static void sleep(long millis, long span) throws Exception {
        if (!MINIMUM || millis == LONG) {
            if (span != 0) log("context - span=" + Long.toHexString(span));
            log("sleepStart - -");
            log("sleepEnd - -");
        }
        Thread.sleep(millis);
    }

    /** Requests one after the other on one thread. */
    static void requests() throws Exception {
        quietly(1);
        quietly(2);
        quietly(1);
        quietly(0); // this one has not waited

        sleep(LONG, 0);
        quietly(3);
        sleep(SHORT, MINIMUM ? 0 : 3);
        if (MINIMUM) sleep(LONG, 3);
        loudly(4);
        sleep(LONG, 0);
        loudly(3);
        end("GET/orders", 3);

        quietly(5);
        quietly(6);
        sleep(LONG, 6);
        loudly(5);
        end(null, 5);
        Agent.ended("nothing"); // no request is left

        quietly(0xe); // the request, which ends before its scope does
        sleep(SHORT, MINIMUM ? 0 : 0xe);
        if (MINIMUM) quietly(0xf); else loudly(0xf);
        sleep(LONG, MINIMUM ? 0xf : 0);
        log("context - span=e");
        end(null, 0xe);

        quietly(7);
        sleep(LONG, 7);
        logEnd(null, 7);
        Agent.current(0, 0, 0);
        quietly(8);
        sleep(SHORT, MINIMUM ? 0 : 8);
        if (MINIMUM) quietly(0); else end("GET/orders", 8);
        quietly(0xb); // whom it unparks may have waited for it; here it is itself, whose name is always reported
        log("context - span=b");
        LockSupport.unpark(Thread.currentThread());
        log("unpark - " + Thread.currentThread().getName());
        loudly(0);
        quietly(0xa);
        log("context - span=a");
        LockSupport.unpark(Thread.currentThread());
        log("unpark - " + Thread.currentThread().getName());
        sleep(LONG, 0); // the collector knows the span already
        end("GET/orders", 0xa);
        quietly(9); // its thread ends before
    }

    static final Lock lock = new Lock();
    static final ReentrantLock mutex = new ReentrantLock();

    /** The owner of a monitor and of a lock, which has a span from the start, or has waited before. */
    static void owner(long span, boolean waits) throws Exception {
        quietly(span);
        if (waits) sleep(LONG, span);
        mutex.lock();
        synchronized (lock) {
            reached = 1;
            until(1);
        }
        until(2);
        if (!waits) { // the waiter has reported the span, so the collector must hear of its end
            loudly(0xd);
            loudly(span);
        }
        mutex.unlock();
        log("unpark - " + (waits ? "worker-late-waiter" : "worker-waiter"));
        if (waits) end("GET/stock", span); else loudly(0);
    }

    static void waiter(String owner, String hears) {
        until(0);
        log("contendedEnter Contexts$Lock " + owner);
        if (hears != null) log("ownerContext - span=" + hears);
        synchronized (lock) {
            log("contendedEntered Contexts$Lock -");
        }
        reached = 2;
        log("park " + MUTEX + " " + owner);
        if (hears != null) log("ownerContext - span=" + hears);
        log("unparked - -");
        mutex.lock();
        mutex.unlock();
    }

    static void owners(String prefix, boolean waits) throws Exception {
        step = -1;
        reached = 0;
        Thread owner = worker(prefix + "owner", () -> owner(0xc, waits));
        while (reached < 1) Thread.yield();
        Thread waiter = worker(prefix + "waiter", () -> waiter("worker-" + prefix + "owner", waits ? null : "c"));
        step = 0;
        Blocked.await(lock, waiter);
        step = 1;
        while (reached < 2 || waiter.getState() != Thread.State.WAITING) Thread.yield();
        step = 2;
        owner.join();
        waiter.join();
    }

    /** Starts a virtual thread (21 and later, so by reflection), of which only the spans are compared. */
    static Thread virtual(String name, Body body) throws Exception {
        Class<?> builder = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object of = Thread.class.getMethod("ofVirtual").invoke(null);
        of = builder.getMethod("name", String.class).invoke(of, "worker-virtual" + name);
        return (Thread) builder.getMethod("start", Runnable.class).invoke(of, (Runnable) () -> run(body));
    }

    /** Its span moves with it. */
    static void moves() throws Exception {
        virtual("", () -> {
            quietly(1);
            quietly(0);
            quietly(2);
            log("context - span=2");
            for (int i = 0; i < 100; i++) LockSupport.parkNanos(10_000); // on any carrier
            loudly(3);
            Thread.sleep(1);
            loudly(2);
            end("GET/orders", 2);
            quietly(4);
        }).join();
    }

    /** The owner of a lock is virtual. */
    static void virtualOwner() throws Exception {
        step = reached = 0;
        Thread owner = virtual("-owner", () -> {
            quietly(0xd);
            mutex.lock();
            reached = 1;
            until(1);
            loudly(0); // the waiter has reported it
            mutex.unlock();
        });
        while (reached < 1) Thread.yield();
        Thread waiter = worker("waits", () -> {
            log("park " + MUTEX + " worker-virtual-owner");
            log("ownerContext - span=d");
            log("unparked - -");
            mutex.lock();
            mutex.unlock();
        });
        while (waiter.getState() != Thread.State.WAITING) Thread.yield();
        step = 1;
        owner.join();
        waiter.join();
    }

    /** Does what the input says, on the main thread. */
    static void commands() throws Exception {
        System.out.println("ready");
        Scanner in = new Scanner(System.in);
        while (in.hasNext()) {
            switch (in.next()) {
                case "span": quietly(in.nextInt()); break;
                case "sleep": Thread.sleep(1); break;
                case "end": end(in.next(), 0); break;
                default: throw new IllegalArgumentException();
            }
            System.out.println("done");
        }
    }

    /** As a Java agent: before the session, where it has no effect. */
    public static void premain(String options) {
        quietly(1);
        quietly(0);
        quietly(1);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            commands();
            return;
        }
        worker("requests", Contexts::requests).join();
        if (!MINIMUM) {
            owners("", false);
            owners("late-", true);
            if (Boolean.getBoolean("virtual")) {
                moves();
                virtualOwner();
            }
        }
        logged.forEach(System.out::println);
    }
}
