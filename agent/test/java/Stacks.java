// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * Parks, notifies and waits with stacks of all shapes, while code is compiled, discarded and recompiled: recursion, inlining, on-stack replacement,
 * callbacks through the library, reflection, method handles, initializers, privileged actions, unloaded classes.
 */
public final class Stacks {
    interface Shape { int go(int depth) throws Throwable; }

    static final class Base implements Shape {
        public int go(int depth) { act(depth); return depth; }
    }

    static final class Same implements Shape {
        public int go(int depth) throws Throwable { return depth == 0 ? last.go(0) : go(depth - 1) + 1; }
    }

    static final class There implements Shape {
        public int go(int depth) throws Throwable { return depth == 0 ? last.go(0) : back.go(depth - 1) + 2; }
    }

    static final class Back implements Shape {
        public int go(int depth) throws Throwable { return depth == 0 ? last.go(0) : there.go(depth - 1) + 3; }
    }

    static final Shape last = new Base(), there = new There(), back = new Back();
    static final Object lock = new Object();
    static volatile int sink;

    static void act(int n) {
        Thread self = Thread.currentThread();
        LockSupport.unpark(self);
        LockSupport.park(lock);
        if ((n & 3) == 0) {
            synchronized (lock) {
                lock.notifyAll();
            }
        }
    }

    static int viaReflection(int depth) throws Throwable {
        Method m = Stacks.class.getDeclaredMethod("reflected", int.class);
        return (Integer) m.invoke(null, depth);
    }

    static int reflected(int depth) throws Throwable {
        if (depth > 0) return viaReflection(depth - 1);
        act(depth);
        return 0;
    }

    static final MethodHandle handle;

    static {
        try {
            handle = MethodHandles.lookup().findStatic(Stacks.class, "handled", MethodType.methodType(int.class, int.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static int handled(int depth) throws Throwable {
        if (depth > 0) return (int) handle.invokeExact(depth - 1);
        act(depth);
        return 0;
    }

    static int sorted(int depth) {
        Integer[] numbers = {3, 1, 2, 5, 4};
        Arrays.sort(numbers, Comparator.comparing(n -> { act(n); return n; }));
        return numbers[0];
    }

    static int privileged(int depth) {
        return java.security.AccessController.doPrivileged((PrivilegedAction<Integer>) () -> {
            if (depth > 0) return privileged(depth - 1);
            act(depth);
            return 1;
        });
    }

    static int looped(int rounds) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            for (int j = 0; j < 200; j++) sum += j ^ i;
            act(i);
        }
        return sum;
    }

    /** The call target changes after a while: code compiled for it is deoptimized, even with frames on the stack. */
    static int fickle(IntConsumer first, IntConsumer second, int rounds) {
        for (int i = 0; i < rounds; i++) inner(i < rounds - 5 ? first : second, i);
        return rounds;
    }

    static void inner(IntConsumer c, int i) { c.accept(i); }

    /** A class that acts in its initializer: Java called from C, called from Java. It can be unloaded afterwards. */
    static int initialized() throws Throwable {
        Class<?> c = Class.forName("Stacks$Initialized", true, new ClassLoader(null) {
            @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
                if (!name.equals("Stacks$Initialized")) return Stacks.class.getClassLoader().loadClass(name);
                try (InputStream in = Stacks.class.getResourceAsStream("/Stacks$Initialized.class")) {
                    byte[] bytes = in.readAllBytes();
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (java.io.IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        });
        Object made = c.getDeclaredConstructor().newInstance();
        return ((Callable<?>) made).call().hashCode();
    }

    public static final class Initialized implements Callable<Integer> {
        static int n;

        static { for (int i = 0; i < 3; i++) inside(i); }

        public Initialized() { inside(5); }

        static void inside(int i) {
            LockSupport.unpark(Thread.currentThread());
            LockSupport.park();
            n += i;
        }

        @Override public Integer call() {
            for (int i = 0; i < 3; i++) inside(i);
            return n;
        }
    }

    static void round(int i) throws Throwable {
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        Shape same = new Same();
        sink += same.go(i % 40) + there.go(i % 17) + viaReflection(i % 5) + handled(i % 7) + sorted(i) + privileged(i % 3) + looped(5);
        sink += fickle(n -> act(n), n -> { act(n); act(n + 1); }, 20);
        sink += map.computeIfAbsent(i, k -> { act(k); return k; });
        sink += Arrays.asList(1, 2, 3).stream().filter(n -> { act(n); return true; }).mapToInt(n -> n).sum();
        if (i % 50 == 0) {
            sink += initialized();
            synchronized (lock) {
                lock.wait(1);
            }
        }
        try {
            sink += CompletableFuture.supplyAsync(() -> { act(i); return i; }).get();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        if (i % 500 == 0) System.gc();
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.getInteger("rounds", 1500);
        ExecutorService pool = Executors.newFixedThreadPool(4);
        for (int t = 0; t < 4; t++) {
            pool.submit(() -> {
                try {
                    for (int i = 0; i < rounds; i++) round(i);
                } catch (Throwable e) {
                    e.printStackTrace();
                }
            });
        }
        pool.shutdown();
        while (!pool.awaitTermination(1, java.util.concurrent.TimeUnit.SECONDS)) { }
        System.out.println("done");
    }
}
