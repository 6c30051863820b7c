// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Wakers TURNS: for each way to wait and each pair of kinds of threads, platform or virtual, one thread waits TURNS times and
 * another one ends each wait, once it sees it. Prints which threads these were.
 */
public final class Wakers {
  /** A way to wait. The waker acts when the other thread waits. */
  abstract static class Way {
    volatile Thread waiter;
    volatile boolean virtual; // the waiter is

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

  private static volatile int turn; // that the waiter may begin
  private static volatile int done; // that it has finished

  private static void turns(Way way, int turns) throws Exception {
    for (int i = 1; i <= turns; i++) {
      if (way instanceof Monitor) {
        synchronized (way) {
          turn = i;
          if (way.virtual) way.awaitWait();
          else Blocked.await(way, way.waiter); // a platform thread is BLOCKED before the JVM reports it
        }
      } else {
        way.prepare();
        turn = i;
        way.awaitWait();
        way.wake();
      }
      while (done < i) Thread.onSpinWait();
    }
  }

  private static void waits(Way way, int turns) throws Exception {
    for (int i = 1; i <= turns; i++) {
      while (turn < i) Thread.onSpinWait();
      way.await();
      done = i;
    }
  }

  interface Body {
    void run() throws Exception;
  }

  private static Thread thread(boolean virtual, String name, Body body) throws Exception {
    Runnable task =
        () -> {
          try {
            body.run();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        };
    if (!virtual) return new Thread(task, name);
    Object builder = Thread.class.getMethod("ofVirtual").invoke(null); // for compilers that lack it
    Class<?> type = Class.forName("java.lang.Thread$Builder");
    type.getMethod("name", String.class).invoke(builder, name);
    return (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, task);
  }

  public static void main(String[] args) throws Exception {
    int turns = Integer.parseInt(args[0]);
    StringJoiner pairs = new StringJoiner(",", "{\"turns\":" + turns + ",\"pairs\":[", "]}");
    String[] kinds = {"platform", "virtual"};
    for (int i = 0; i < 32; i++) {
      Way[] ways = {
        new Park(), new Lock(), new Signal(), new Permit(), new Queue(), new Future(), new Monitor(), new Notify()
      };
      Way way = ways[i / 4];
      String name = way.getClass().getSimpleName();
      turn = done = 0;
      Thread waiter = thread(i % 2 == 1, name + "-waiter", () -> waits(way, turns));
      Thread waker = thread(i % 4 > 1, name + "-waker", () -> turns(way, turns));
      way.waiter = waiter;
      way.virtual = i % 2 == 1;
      waiter.start();
      waker.start();
      waiter.join();
      waker.join();
      pairs.add(
          String.format(
              "{\"way\":\"%s\",\"waker_kind\":\"%s\",\"waiter_kind\":\"%s\",\"waiter\":%d,\"waker\":%d}",
              name, kinds[i / 2 % 2], kinds[i % 2], waiter.getId(), waker.getId()));
    }
    System.out.println(pairs);
  }
}
