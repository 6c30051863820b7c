// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Calls each hooked method many times: directly, by reflection, by a method handle. Prints the counts that the receiver should
 * see: "worker.notify 300000". args[0] is the number of calls of cheap methods in each way. With args[1] it first does all that
 * this many times uncounted, so that the code is compiled without hooks, prints "ready" and waits for a line.
 */
public final class Coverage {
    static final class Woken {}
    static final class Cut {}

    interface Call {
        void run() throws Throwable;
    }

    static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    static final Map<String, Integer> EXPECTED = new TreeMap<>();
    static int many;
    static String name = "worker-";
    static volatile boolean over;

    public static void main(String[] args) throws Exception {
        many = Integer.parseInt(args[0]);
        Thread[] target = new Thread[1];
        if (args.length > 1) {
            many = Integer.parseInt(args[1]);
            name = "early-";
            worker(() -> target[0] = sleeper(), 0);
            worker(() -> all(target[0]), 1);
            over = true;
            target[0].join();
            over = false;
            name = "worker-";
            many = Integer.parseInt(args[0]);
            EXPECTED.clear();
            System.out.println("ready");
            System.in.read();
        }
        worker(() -> target[0] = sleeper(), 0);
        expect("worker.startCalled", 1);
        worker(() -> all(target[0]), 1);
        expect("worker.startCalled", 1);
        EXPECTED.forEach((name, count) -> System.out.println(name + " " + count));
    }

    /** Runs the body in a counted thread, and waits in an uncounted one without using a processor. */
    static void worker(Call body, int number) throws InterruptedException {
        Throwable[] failed = {null};
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Throwable e) {
                failed[0] = e;
            }
        }, name + number);
        thread.start();
        while (thread.isAlive()) Thread.sleep(1);
        if (failed[0] != null) throw new AssertionError(failed[0]);
    }

    static Thread sleeper() {
        Thread thread = new Thread(() -> {
            while (!over && Runtime.version().feature() < 20) pause();
        }, "target");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Of a thread that is not counted. */
    static void pause() {
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void expect(String name, int count) {
        EXPECTED.merge(name, count, Integer::sum);
    }

    /** Makes each call in each way. For instance methods, a type is that of the receiver. */
    static void times(int count, Call direct, Call reflected, Call handle) throws Throwable {
        for (Call way : new Call[] {direct, reflected, handle}) {
            for (int i = 0; i < count; i++) way.run();
        }
    }

    static Method method(Class<?> type, String name, Class<?>... parameters) throws Exception {
        return type.getMethod(name, parameters);
    }

    static MethodHandle handle(Method method) throws Exception {
        return LOOKUP.unreflect(method);
    }

    static void all(Thread target) throws Throwable {
        notifies();
        parks();
        yields();
        sleeps();
        interrupts();
        exceptions();
        waits();
        starts();
        names();
        if (Runtime.version().feature() < 20) suspends(target);
    }

    static void notifies() throws Throwable {
        Woken lock = new Woken();
        Method one = method(Object.class, "notify");
        Method all = method(Object.class, "notifyAll");
        MethodHandle oneHandle = handle(one);
        MethodHandle allHandle = handle(all);
        synchronized (lock) {
            times(many, lock::notify, () -> one.invoke(lock), () -> oneHandle.invoke((Object) lock));
            times(many, lock::notifyAll, () -> all.invoke(lock), () -> allHandle.invoke((Object) lock));
        }
        expect("Coverage$Woken.notify", 3 * many);
        expect("Coverage$Woken.notifyAll", 3 * many);
    }

    static void parks() throws Throwable {
        Thread self = Thread.currentThread();
        Method park = method(LockSupport.class, "park");
        Method unpark = method(LockSupport.class, "unpark", Thread.class);
        MethodHandle parkHandle = handle(park);
        MethodHandle unparkHandle = handle(unpark);
        times(many, () -> {
            LockSupport.unpark(self);
            LockSupport.park();
        }, () -> {
            unpark.invoke(null, self);
            park.invoke(null);
        }, () -> {
            unparkHandle.invoke(self);
            parkHandle.invoke();
        });
        for (String name : new String[] {"park", "unparked", "unpark"}) expect("worker." + name, 3 * many);
    }

    /** Each call yields the processor, for milliseconds under contention: so there are fewer of these and of sleep(0). */
    static void yields() throws Throwable {
        int count = many / 10;
        Method yield = method(Thread.class, "yield");
        MethodHandle yieldHandle = handle(yield);
        times(count, Thread::yield, () -> yield.invoke(null), () -> yieldHandle.invoke());
        expect("worker.yield", 3 * count);
    }

    static void sleeps() throws Throwable {
        int count = many / 10;
        Method sleep = method(Thread.class, "sleep", long.class);
        MethodHandle sleepHandle = handle(sleep);
        times(count, () -> Thread.sleep(0), () -> sleep.invoke(null, 0L), () -> sleepHandle.invoke(0L));
        expect("worker.sleepStart", 3 * count);
        expect("worker.sleepEnd", 3 * count);
    }

    /** Interrupts of the thread itself, each consumed once; consuming again causes no event. */
    static void interrupts() throws Throwable {
        Thread self = Thread.currentThread();
        Method interrupt = method(Thread.class, "interrupt");
        Method interrupted = method(Thread.class, "interrupted");
        MethodHandle interruptHandle = handle(interrupt);
        MethodHandle interruptedHandle = handle(interrupted);
        times(many, () -> {
            self.interrupt();
            Thread.interrupted();
            Thread.interrupted();
        }, () -> {
            interrupt.invoke(self);
            interrupted.invoke(null);
        }, () -> {
            interruptHandle.invoke(self);
            boolean ignored = (boolean) interruptedHandle.invoke();
        });
        expect("worker.interruptCalled", 3 * many);
        expect("worker.interrupted", 3 * many);
    }

    /** Exceptions that count as interrupts, including subclasses, and others. */
    static void exceptions() throws Throwable {
        Constructor<?> constructor = InterruptedException.class.getConstructor();
        MethodHandle handle = LOOKUP.unreflectConstructor(constructor);
        times(many, () -> {
            new InterruptedException();
            new IllegalStateException();
        }, () -> constructor.newInstance(), () -> handle.invoke());
        new InterruptedException() {};
        expect("worker.interrupted", 3 * many + 1);
    }

    /** Waits of an interrupted thread end at once. Each is an interrupt, a wait and an exception. */
    static void waits() throws Throwable {
        int count = many / 10;
        Cut lock = new Cut();
        Method wait = method(Object.class, "wait");
        MethodHandle waitHandle = handle(wait);
        synchronized (lock) {
            times(count, () -> cut(lock::wait), () -> cut(() -> wait.invoke(lock)),
                () -> cut(() -> waitHandle.invoke((Object) lock)));
        }
        expect("Coverage$Cut.wait", 3 * count);
        expect("Coverage$Cut.waitReturned", 3 * count);
        expect("worker.interruptCalled", 3 * count);
        expect("worker.interrupted", 3 * count);
    }

    static void cut(Call wait) throws Throwable {
        Thread.currentThread().interrupt();
        try {
            wait.run();
            throw new AssertionError("not interrupted");
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof InterruptedException)) throw e;
        } catch (InterruptedException expected) {
            // one more
        }
    }

    static void starts() throws Throwable {
        int count = many / 100;
        Method start = method(Thread.class, "start");
        MethodHandle startHandle = handle(start);
        times(count, () -> ended(short_(), Thread::start), () -> ended(short_(), start::invoke),
            () -> ended(short_(), t -> startHandle.invoke(t)));
        for (String name : new String[] {"startCalled", "threadStart", "threadEnd"}) expect("worker." + name, 3 * count);
        expect("worker.threadStart", 2);
        expect("worker.threadEnd", 2);
    }

    interface Starter {
        void start(Thread thread) throws Throwable;
    }

    static Thread short_() {
        return new Thread(() -> { }, name + 9);
    }

    static void ended(Thread thread, Starter starter) throws Throwable {
        starter.start(thread);
        thread.join();
    }

    /** New names are not events but definitions; there must be fewer definitions than names. */
    static void names() throws Throwable {
        Thread self = Thread.currentThread();
        for (int i = 0; i < many; i++) self.setName(name + "1-" + i);
    }

    /** Methods removed from newer JDKs. */
    static void suspends(Thread target) throws Throwable {
        int count = many / 20;
        Method suspend = method(Thread.class, "suspend");
        Method resume = method(Thread.class, "resume");
        Method stop = method(Thread.class, "stop");
        MethodHandle suspendHandle = handle(suspend);
        MethodHandle resumeHandle = handle(resume);
        for (int i = 0; i < count; i++) {
            suspend.invoke(target);
            resume.invoke(target);
            suspendHandle.invoke(target);
            resumeHandle.invoke(target);
        }
        stop.invoke(target);
        expect("worker.suspend", 2 * count);
        expect("worker.resume", 2 * count + 1); // Thread.stop resumes
        expect("worker.stop", 1);
    }
}
