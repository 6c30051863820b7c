// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Pins TIMES MILLISECONDS: for each way, a virtual thread waits TIMES times for MILLISECONDS, below a native frame, in a class
 * initializer or while it owns a monitor, which keeps its carrier busy. Prints how long each wait was, seen from outside, and for how long it
 * kept a carrier according to the flight recorder.
 */
public final class Pins {
  interface Body {
    void run() throws Exception;
  }

  /** A way to wait for some time. */
  abstract static class Way {
    /** Waits once; only the measured part counts. */
    abstract long await() throws Exception;
  }

  private static int millis;

  /** Runs a body and returns how long it took. */
  private static long measured(Body body) throws Exception {
    long begin = System.nanoTime();
    body.run();
    return System.nanoTime() - begin;
  }

  // ---- Below a native frame: C's bsearch calls back once to compare the key with the only element. No API of Java 11 is
  // used at compile time, so that one class file serves all versions.

  private static MethodHandle bsearch;
  private static Object linker;

  private static Class<?> foreign(String name) throws ClassNotFoundException {
    return Class.forName("java.lang.foreign." + name);
  }

  private static Object layout(String name) throws ReflectiveOperationException {
    return foreign("ValueLayout").getField(name).get(null);
  }

  private static Object descriptor(String... layouts) throws ReflectiveOperationException {
    Class<?> type = foreign("MemoryLayout");
    Object rest = Array.newInstance(type, layouts.length - 1);
    for (int i = 1; i < layouts.length; i++) Array.set(rest, i - 1, layout(layouts[i]));
    return foreign("FunctionDescriptor").getMethod("of", type, rest.getClass()).invoke(null, layout(layouts[0]), rest);
  }

  private static void findNative() throws ReflectiveOperationException {
    Class<?> type = foreign("Linker");
    linker = type.getMethod("nativeLinker").invoke(null);
    Object lookup = type.getMethod("defaultLookup").invoke(linker);
    Object function = ((Optional<?>) foreign("SymbolLookup").getMethod("find", String.class).invoke(lookup, "bsearch")).get();
    Class<?> option = foreign("Linker$Option");
    Object none = Array.newInstance(option, 0);
    bsearch =
        (MethodHandle)
            type.getMethod("downcallHandle", foreign("MemorySegment"), foreign("FunctionDescriptor"), none.getClass())
                .invoke(linker, function, descriptor("JAVA_LONG", "JAVA_LONG", "JAVA_LONG", "JAVA_LONG", "JAVA_LONG", "ADDRESS"), none);
  }

  static int compare(Body body, long key, long element) {
    try {
      body.run();
    } catch (Exception e) { // an exception here would end the JVM without a word
      e.printStackTrace();
    }
    return 0;
  }

  /** Returns a body that runs this one below a native frame. */
  private static Body belowNative(Body body) throws ReflectiveOperationException {
    MethodType comparing = MethodType.methodType(int.class, Body.class, long.class, long.class);
    MethodHandle compare = MethodHandles.lookup().findStatic(Pins.class, "compare", comparing).bindTo(body);
    Class<?> arena = foreign("Arena");
    Object none = Array.newInstance(foreign("Linker$Option"), 0);
    Object stub =
        foreign("Linker")
            .getMethod("upcallStub", MethodHandle.class, foreign("FunctionDescriptor"), arena, none.getClass())
            .invoke(linker, compare, descriptor("JAVA_INT", "JAVA_LONG", "JAVA_LONG"), arena.getMethod("global").invoke(null), none);
    return () -> {
      try {
        bsearch.invokeWithArguments(8L, 8L, 1L, 1L, stub);
      } catch (Throwable e) {
        throw new IllegalStateException(e);
      }
    };
  }

  /** Waits below a native frame; what is measured is inside. */
  static final class Native extends Way {
    private final Body call;
    private long took;

    Native(Way inner) throws ReflectiveOperationException {
      call = belowNative(() -> took = inner.await());
    }

    @Override
    long await() throws Exception {
      call.run();
      return took;
    }
  }

  // ---- Ways that may be below a native frame.

  static final class Park extends Way {
    @Override
    long await() throws Exception {
      return measured(() -> LockSupport.parkNanos(millis * 1_000_000L));
    }
  }

  static final class Sleep extends Way {
    @Override
    long await() throws Exception {
      return measured(() -> Thread.sleep(millis));
    }
  }

  /** For what a platform thread holds, that keeps it for some time once the other one waits. */
  abstract static class Held extends Way {
    abstract void hold(Body inside) throws Exception;

    abstract void enter() throws Exception;

    @Override
    long await() throws Exception {
      Thread waiter = Thread.currentThread();
      CountDownLatch held = new CountDownLatch(1);
      Thread holder =
          new Thread(
              () -> {
                try {
                  hold(
                      () -> {
                        held.countDown();
                        while (waiter.getState() != Thread.State.WAITING && waiter.getState() != Thread.State.BLOCKED) Thread.yield();
                        Thread.sleep(millis);
                      });
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              "holder");
      holder.start();
      while (held.getCount() > 0) Thread.onSpinWait(); // not a wait, which would be another one
      long took = measured(this::enter);
      while (holder.isAlive()) Thread.onSpinWait();
      return took;
    }
  }

  static final class Lock extends Held {
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    void hold(Body inside) throws Exception {
      lock.lock();
      try {
        inside.run();
      } finally {
        lock.unlock();
      }
    }

    @Override
    void enter() {
      lock.lock();
      lock.unlock();
    }
  }

  static final class Monitor extends Held {
    private int count;

    @Override
    synchronized void hold(Body inside) throws Exception {
      inside.run();
    }

    @Override
    synchronized void enter() {
      count++;
    }
  }

  static final class Wait extends Way {
    @Override
    synchronized long await() throws Exception {
      return measured(() -> wait(millis));
    }
  }

  static final class Synchronized extends Way {
    @Override
    synchronized long await() throws Exception {
      return measured(() -> Thread.sleep(millis));
    }
  }

  // ---- Class initializers. Each time, another loader defines the two classes again.

  /** Its initializer waits. */
  public static final class Slow {
    public static int count = initialize();
  }

  /** Uses a class, which is then initialized without a native frame in between. */
  public static final class User {
    public static int use() {
      return Slow.count;
    }
  }

  private static volatile CountDownLatch begun;
  private static volatile CountDownLatch joined; // others are about to use the class
  private static volatile long initialized; // how long the initializer waited

  public static int initialize() {
    try {
      begun.countDown();
      while (joined.getCount() > 0) Thread.onSpinWait();
      initialized = measured(() -> Thread.sleep(millis));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return 1;
  }

  static final class Loader extends ClassLoader {
    Loader() {
      super(Pins.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.equals(Slow.class.getName()) && !name.equals(User.class.getName())) return super.loadClass(name, resolve);
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) return loaded;
      try (InputStream in = getParent().getResourceAsStream(name + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  private static MethodHandle newUser() throws ReflectiveOperationException {
    Class<?> user = new Loader().loadClass(User.class.getName());
    return MethodHandles.publicLookup().findStatic(user, "use", MethodType.methodType(int.class));
  }

  private static void use(MethodHandle user) throws Exception {
    try {
      int ignored = (int) user.invokeExact();
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits in a class initializer. */
  static final class Initializer extends Way {
    @Override
    long await() throws Exception {
      begun = new CountDownLatch(1);
      joined = new CountDownLatch(0);
      use(newUser());
      return initialized;
    }
  }

  /** Waits until another thread has initialized a class. */
  static final class Initialized extends Way {
    @Override
    long await() throws Exception {
      begun = new CountDownLatch(1);
      joined = new CountDownLatch(1);
      MethodHandle user = newUser();
      Body initialize = () -> use(user);
      Thread other =
          new Thread(
              () -> {
                try {
                  initialize.run();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              "initializer");
      other.start();
      while (begun.getCount() > 0) Thread.onSpinWait();
      long took =
          measured(
              () -> {
                joined.countDown();
                use(user);
              });
      while (other.isAlive()) Thread.onSpinWait();
      return took;
    }
  }

  private static Thread virtual(String name, Runnable task) throws ReflectiveOperationException {
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
    Class<?> type = Class.forName("java.lang.Thread$Builder");
    type.getMethod("name", String.class).invoke(builder, name);
    return (Thread) type.getMethod("start", Runnable.class).invoke(builder, task);
  }

  @SuppressWarnings("deprecation") // threadId is newer than the oldest supported JDK
  private static String run(String name, Way way, int times) throws Exception {
    StringJoiner waits = new StringJoiner(",", "[", "]");
    Thread thread =
        virtual(
            name,
            () -> {
              try {
                for (int i = 0; i < times; i++) waits.add(Long.toString(way.await()));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    thread.join();
    return String.format("{\"way\":\"%s\",\"thread\":%d,\"waits\":%s}", name, thread.getId(), waits);
  }

  public static void main(String[] args) throws Exception {
    int times = Integer.parseInt(args[0]);
    millis = Integer.parseInt(args[1]);
    findNative();
    StringJoiner ways = new StringJoiner(",", "[", "]");
    run("warm-up", new Native(new Park()), 2);
    run("warm-up", new Initializer(), 2);
    try (Recording recording = new Recording()) {
      recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO).withoutStackTrace();
      recording.start();
      ways.add(run("native-park", new Native(new Park()), times));
      ways.add(run("native-sleep", new Native(new Sleep()), times));
      ways.add(run("native-lock", new Native(new Lock()), times));
      ways.add(run("native-monitor", new Native(new Monitor()), times));
      ways.add(run("native-wait", new Native(new Wait()), times));
      ways.add(run("initializer", new Initializer(), times));
      ways.add(run("initialized", new Initialized(), times));
      ways.add(run("synchronized", new Synchronized(), times));
      ways.add(run("monitor", new Monitor(), times));
      ways.add(run("wait", new Wait(), times));
      ways.add(run("park", new Park(), times));
      recording.stop();
      System.out.printf("{\"ways\":%s,\"pins\":%s}%n", ways, pins(recording));
    }
  }

  /** Returns the events of a recording: thread and length. */
  private static List<String> pins(Recording recording) throws IOException {
    Path file = Files.createTempFile("pins", ".jfr");
    try {
      recording.dump(file);
      return RecordingFile.readAllEvents(file).stream()
          .sorted((a, b) -> a.getStartTime().compareTo(b.getStartTime()))
          .map(Pins::pin)
          .collect(Collectors.toList());
    } finally {
      Files.delete(file);
    }
  }

  private static String pin(RecordedEvent event) {
    return String.format("[%d,%d]", event.getThread().getJavaThreadId(), event.getDuration().toNanos());
  }
}
