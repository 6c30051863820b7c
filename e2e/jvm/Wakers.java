// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.reflect.Method;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Wakers TURNS: for each way to wait and each pair of kinds of threads, platform or virtual, one thread waits TURNS times and
 * another one ends each wait, once it sees it; in structured concurrency, a new one each time. Prints which threads these were.
 */
public final class Wakers {
  /** A way to wait. The waker acts when the other thread waits. */
  abstract static class Way {
    volatile Thread waiter;
    volatile boolean virtual; // the waiter is
    volatile boolean virtualWaker;
    final List<String> wakers = new CopyOnWriteArrayList<>(); // ids, or names of carriers; each is that of one turn, or of all of them

    /** Before each turn, on the waker. */
    void prepare() throws Exception {}

    abstract void await() throws Exception;

    abstract void wake() throws Exception;

    final void awaitWait() {
      while (!waits(waiter.getState())) Thread.onSpinWait();
    }

    private static boolean waits(Thread.State state) {
      return state == Thread.State.WAITING || state == Thread.State.BLOCKED;
    }
  }

  static final class Park extends Way {
    private volatile boolean woken;

    @Override
    void prepare() {
      woken = false;
    }

    @Override
    void await() {
      while (!woken) LockSupport.park(this);
    }

    @Override
    void wake() {
      woken = true;
      LockSupport.unpark(waiter);
    }
  }

  static final class Lock extends Way {
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    void prepare() {
      lock.lock();
    }

    @Override
    void await() {
      lock.lock();
      lock.unlock();
    }

    @Override
    void wake() {
      lock.unlock();
    }
  }

  static final class Signal extends Way {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition condition = lock.newCondition();
    private boolean woken;

    @Override
    void await() throws InterruptedException {
      lock.lock();
      try {
        for (woken = false; !woken; ) condition.await();
      } finally {
        lock.unlock();
      }
    }

    @Override
    void wake() {
      lock.lock();
      woken = true;
      condition.signal();
      lock.unlock();
    }
  }

  static final class Permit extends Way {
    private final Semaphore semaphore = new Semaphore(0);

    @Override
    void await() throws InterruptedException {
      semaphore.acquire();
    }

    @Override
    void wake() {
      semaphore.release();
    }
  }

  static final class Queue extends Way {
    private final SynchronousQueue<Integer> queue = new SynchronousQueue<>();

    @Override
    void await() throws InterruptedException {
      queue.take();
    }

    @Override
    void wake() {
      if (!queue.offer(1)) throw new AssertionError("nobody takes");
    }
  }

  static final class Future extends Way {
    private volatile CompletableFuture<Integer> future;

    @Override
    void prepare() {
      future = new CompletableFuture<>();
    }

    @Override
    void await() {
      future.join();
    }

    @Override
    void wake() {
      future.complete(1);
    }
  }

  static final class Monitor extends Way {
    private int count;

    @Override
    void await() {
      synchronized (this) {
        count++;
      }
    }

    @Override
    void wake() {} // by leaving the block in turns
  }

  static final class Notify extends Way {
    private boolean woken;

    @Override
    synchronized void await() throws InterruptedException {
      for (woken = false; !woken; ) wait();
    }

    @Override
    synchronized void wake() {
      woken = true;
      notify();
    }
  }

  /**
   * The waiter joins a subtask, whose thread ends once it sees that. A virtual thread has ended when its carrier wakes those that wait for it. The
   * API is a preview, and a class in 21.
   */
  static final class Structured extends Way {
    private final ThreadFactory factory = task -> thread(virtualWaker, "Structured-subtask", task::run);

    @Override
    void await() throws Exception {
      Class<?> type = Class.forName("java.util.concurrent.StructuredTaskScope");
      try (AutoCloseable scope = open(type)) {
        Callable<Integer> task = this::end;
        type.getMethod("fork", Callable.class).invoke(scope, task);
        type.getMethod("join").invoke(scope);
      }
    }

    private AutoCloseable open(Class<?> type) throws Exception {
      if (!type.isInterface()) {
        return (AutoCloseable) type.getConstructor(String.class, ThreadFactory.class).newInstance("", factory);
      }
      Class<?> joiner = Class.forName(type.getName() + "$Joiner");
      Method configure = Class.forName(type.getName() + "$Configuration").getMethod("withThreadFactory", ThreadFactory.class);
      Function<Object, Object> configuration =
          initial -> {
            try {
              return configure.invoke(initial, factory);
            } catch (ReflectiveOperationException e) {
              throw new IllegalStateException(e);
            }
          };
      return (AutoCloseable)
          type.getMethod("open", joiner, Function.class).invoke(null, joiner.getMethod("awaitAll").invoke(null), configuration);
    }

    private int end() {
      awaitWait();
      String carried = Thread.currentThread().toString(); // of a virtual thread, it ends with @CARRIER
      wakers.add(virtualWaker ? '"' + carried.substring(carried.indexOf('@') + 1) + '"' : id(Thread.currentThread()));
      return 1;
    }

    @Override
    void wake() {} // by the end of the subtask
  }

  private static volatile int turn; // that the waiter may begin
  private static volatile int done; // that it has finished

  private static void turns(Way way, int turns) throws Exception {
    for (int i = 1; i <= turns; i++) {
      if (way instanceof Monitor) {
        synchronized (way) {
          turn = i;
          if (!way.virtual) Blocked.await(way, way.waiter); // a platform thread is BLOCKED before the JVM reports it
          else if (Runtime.version().feature() < 24) Blocked.awaitCarried(way.waiter);
          else way.awaitWait();
        }
      } else if (way instanceof Structured) {
        turn = i;
      } else {
        way.prepare();
        turn = i;
        way.awaitWait();
        way.wake();
      }
      while (done < i) Thread.onSpinWait();
    }
  }

  /**
   * Takes the permit that the last turn may have left. If unpark holds the parker's lock when park tries to take it, HotSpot's park returns without
   * taking the permit (Parker::park), so the next park would return before its waker calls unpark.
   */
  private static void takePermit() {
    LockSupport.parkNanos(1);
  }

  private static void waits(Way way, int turns) throws Exception {
    for (int i = 1; i <= turns; i++) {
      while (turn < i) Thread.onSpinWait();
      if (!way.virtual) takePermit();
      way.await();
      done = i;
    }
  }

  interface Body {
    void run() throws Exception;
  }

  @SuppressWarnings("deprecation") // threadId is newer than the oldest supported JDK
  private static String id(Thread thread) {
    return Long.toString(thread.getId());
  }

  private static Thread thread(boolean virtual, String name, Body body) {
    Runnable task =
        () -> {
          try {
            body.run();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        };
    if (!virtual) return new Thread(task, name);
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null); // for compilers that lack it
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      type.getMethod("name", String.class).invoke(builder, name);
      return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, task);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  public static void main(String[] args) throws Exception {
    int turns = Integer.parseInt(args[0]);
    StringJoiner pairs = new StringJoiner(",", "{\"turns\":" + turns + ",\"pairs\":[", "]}");
    String[] kinds = {"platform", "virtual"};
    for (int i = 0; i < 36; i++) {
      Way[] ways = {
        new Park(), new Lock(), new Signal(), new Permit(), new Queue(), new Future(), new Monitor(), new Notify(), new Structured()
      };
      Way way = ways[i / 4];
      String name = way.getClass().getSimpleName();
      turn = done = 0;
      way.virtual = i % 2 == 1;
      way.virtualWaker = i % 4 > 1;
      Thread waiter = thread(way.virtual, name + "-waiter", () -> waits(way, turns));
      Thread waker = thread(way.virtualWaker, name + "-waker", () -> turns(way, turns));
      way.waiter = waiter;
      waiter.start();
      waker.start();
      waiter.join();
      waker.join();
      if (way.wakers.isEmpty()) way.wakers.add(id(waker));
      pairs.add(
          String.format(
              "{\"way\":\"%s\",\"waker_kind\":\"%s\",\"waiter_kind\":\"%s\",\"waiter\":%s,\"wakers\":%s}",
              name, kinds[i / 2 % 2], kinds[i % 2], id(waiter), way.wakers));
    }
    System.out.println(pairs);
  }
}
