// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.InputStream;
import java.util.concurrent.Phaser;

/**
 * Two virtual threads (21 and later, so by reflection) initialize the same class at once, ROUNDS times: one of them
 * does, while the JVM lets the other one wait. No thread calls Object.wait.
 */
public final class Initialized {
    static final int ROUNDS = 200;
    static final long NANOS = 1_000_000;

    /** Its initializer takes a while. */
    static final class Slow {
        static {
            long end = System.nanoTime() + NANOS;
            while (System.nanoTime() < end) Thread.onSpinWait();
        }
    }

    /** Defines the class once more. */
    static final class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals(Slow.class.getName())) return super.loadClass(name, resolve);
            try (InputStream in = Initialized.class.getResourceAsStream(name + ".class")) {
                byte[] file = in.readAllBytes();
                return defineClass(name, file, 0, file.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static Class<?>[] slow = new Class<?>[ROUNDS];

    static void initialize(Phaser rounds) {
        for (Class<?> c : slow) {
            rounds.arriveAndAwaitAdvance();
            try {
                Class.forName(c.getName(), true, c.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    static Thread start(String name, Runnable body) throws Exception {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        type.getMethod("name", String.class).invoke(builder, name);
        return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < ROUNDS; i++) slow[i] = new Loader().loadClass(Slow.class.getName());
        Phaser rounds = new Phaser(2);
        Thread first = start("first", () -> initialize(rounds));
        Thread second = start("second", () -> initialize(rounds));
        first.join();
        second.join();
        System.out.println("initialized " + ROUNDS);
    }
}
