// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Threads wait once each, for locks that are named in every way that the source can name them. The name of a thread states the name of its
 * lock: "case: name", or "case:" if there is none.
 */
public final class LockNames {
  private static final Object GLOBAL = new Object();
  private static final ReentrantLock SHARED = new ReentrantLock();

  private final Object lock = new Object();
  private final Object[] stripes = {new Object()};
  private final Other other = new Other();
  private final ReentrantLock reentrant = new ReentrantLock();
  private final ReentrantLock fair = new ReentrantLock(true);
  private final ReadWriteLock rw = new ReentrantReadWriteLock();
  private final Semaphore permits = new Semaphore(0);
  private final Condition filled = reentrant.newCondition();
  private final CountDownLatch opened = new CountDownLatch(1);
  private final BlockingQueue<String> queue = new ArrayBlockingQueue<>(1);
  private final CompletableFuture<String> answer = new CompletableFuture<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile int number = 2;
  private volatile boolean done;

  private static final class Other {
    final Object guard = new Object();
  }

  private final class Inner {
    void enter() {
      synchronized (lock) {
        number++;
      }
    }
  }

  /** Starts a task from a field, as servers do. */
  private static final class Wrapper implements Runnable {
    private final Runnable wrapped;

    Wrapper(Runnable wrapped) {
      this.wrapped = wrapped;
    }

    @Override
    public void run() {
      wrapped.run();
    }
  }

  private interface Step {
    void run() throws Exception;
  }

  public static void main(String[] args) throws Exception {
    LockNames program = new LockNames();
    if (args.length > 0 && args[0].equals("attach")) {
      program.stuck();
    }
    program.monitors();
    program.synchronizers();
    program.waits();
    program.idle(task -> new Thread(task, "idle worker:"));
    program.idle(task -> new Thread(new Wrapper(task), "wrapped worker:"));
    System.out.printf("{\"cases\":%d}%n", program.threads.size());
  }

  /**
   * Has threads wait for monitors while the agent is attached. They begin and end one at a time: two threads that end at the same time may
   * wait for each other in the JDK, which cleans up after them under locks of its own.
   */
  private void stuck() throws Exception {
    Thread atField;
    synchronized (lock) {
      Thread atClass;
      synchronized (LockNames.class) {
        atClass = stuckAt("a class:", LockNames::enterClass);
        atField = stuckAt("a field: LockNames.lock", this::enterField);
        System.out.println("ready");
        if (System.in.read() < 0) {
          throw new IOException("nobody attached the agent");
        }
      }
      atClass.join();
    }
    atField.join();
  }

  private Thread stuckAt(String name, Step step) {
    Thread thread = started("stuck at " + name, step);
    Probe.until(() -> thread.getState() == Thread.State.BLOCKED);
    return thread;
  }

  private void monitors() throws Exception {
    blocked("this:", this, this::enterThis);
    blocked("method:", this, this::enterMethod);
    blocked("class:", LockNames.class, LockNames::enterClass);
    blocked("static method:", LockNames.class, LockNames::enterStaticMethod);
    blocked("field: LockNames.lock", lock, this::enterField);
    blocked("static field: LockNames.GLOBAL", GLOBAL, LockNames::enterStaticField);
    blocked("parameter:", lock, () -> enterParameter(lock));
    blocked("variable: LockNames.lock", lock, this::enterVariable);
    blocked("either:", lock, () -> enterEither(true));
    blocked("either way: LockNames.lock", lock, () -> enterEitherWay(true));
    blocked("other: LockNames$Other.guard", other.guard, this::enterOther);
    blocked("element:", stripes[0], this::enterElement);
    blocked("array: LockNames.stripes", stripes, this::enterArray);
    blocked("lambda: LockNames.lock", lock, () -> {
      synchronized (lock) {
        number++;
      }
    });
    blocked("inner: LockNames.lock", lock, () -> new Inner().enter());
    Object guard = new Object();
    blocked("captured: local guard", guard, new Step() {
      @Override
      public void run() {
        synchronized (guard) {
          number++;
        }
      }
    });
    blocked("switch: LockNames.lock", lock, () -> enterAfterSwitch(7));
    blocked("loop: LockNames.lock", lock, () -> enterInLoop(1L));
  }

  private void synchronizers() throws Exception {
    parked("reentrant: LockNames.reentrant", reentrant, () -> unlock(reentrant, () -> reentrant.lock()));
    parked("interruptibly: LockNames.reentrant", reentrant, () -> unlock(reentrant, () -> reentrant.lockInterruptibly()));
    parked("timed: LockNames.reentrant", reentrant, () -> unlock(reentrant, () -> reentrant.tryLock(number > 0 ? 1 : 2, TimeUnit.HOURS)));
    parked("fair: LockNames.fair", fair, () -> unlock(fair, () -> fair.lock()));
    parked("static: LockNames.SHARED", SHARED, () -> unlock(SHARED, () -> SHARED.lock()));
    parked("getter: LockNames.getLock()", reentrant, () -> unlock(reentrant, () -> getLock().lock()));
    parked("read: LockNames.rw.readLock()", rw.writeLock(), () -> unlock(rw.readLock(), () -> rw.readLock().lock()));
    parked("write: LockNames.rw.writeLock()", rw.writeLock(), () -> unlock(rw.writeLock(), () -> rw.writeLock().lock()));
  }

  private void waits() throws Exception {
    Thread t = started("permits: LockNames.permits", () -> permits.acquire());
    release(t, () -> permits.release());
    t = started("await: LockNames.filled", () -> {
      reentrant.lock();
      filled.await();
      reentrant.unlock();
    });
    release(t, () -> {
      reentrant.lock();
      filled.signal();
      reentrant.unlock();
    });
    t = started("latch: LockNames.opened", () -> opened.await());
    release(t, () -> opened.countDown());
    t = started("take: LockNames.queue", () -> queue.take());
    release(t, () -> queue.put("x"));
    t = started("future: LockNames.answer", () -> answer.get());
    release(t, () -> answer.complete("x"));
    t = started("wait: LockNames.lock", () -> {
      synchronized (lock) {
        while (!done) {
          lock.wait();
        }
      }
    });
    release(t, () -> {
      synchronized (lock) {
        done = true;
        lock.notifyAll();
      }
    });
  }

  /** Has a worker of a pool wait for a task that never comes. */
  private void idle(ThreadFactory factory) throws Exception {
    ThreadPoolExecutor pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
      Thread worker = factory.newThread(task);
      threads.add(worker);
      return worker;
    });
    pool.prestartCoreThread();
    release(threads.get(threads.size() - 1), pool::shutdown);
  }

  private Thread started(String name, Step step) {
    Thread thread = Probe.started(() -> run(step), name);
    threads.add(thread);
    return thread;
  }

  private static void run(Step step) {
    try {
      step.run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Ends the wait of a thread. */
  private static void release(Thread thread, Step step) throws Exception {
    Probe.until(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    step.run();
    thread.join();
  }

  /** Runs a step in a thread that must wait for a monitor. */
  private void blocked(String name, Object monitor, Step step) throws Exception {
    Thread thread;
    synchronized (monitor) {
      thread = started(name, step);
      Probe.until(() -> thread.getState() == Thread.State.BLOCKED);
    }
    thread.join();
  }

  /** Runs a step in a thread that must wait for a lock. */
  private void parked(String name, Lock held, Step step) throws Exception {
    held.lock();
    release(started(name, step), held::unlock);
  }

  private static void unlock(Lock taken, Step take) throws Exception {
    take.run();
    taken.unlock();
  }

  private Lock getLock() {
    return reentrant;
  }

  private void enterThis() {
    synchronized (this) {
      number++;
    }
  }

  private synchronized void enterMethod() {
    number++;
  }

  private static void enterClass() {
    synchronized (LockNames.class) {
      Thread.onSpinWait();
    }
  }

  private static synchronized void enterStaticMethod() {
    Thread.onSpinWait();
  }

  private void enterField() {
    synchronized (lock) {
      number++;
    }
  }

  private static void enterStaticField() {
    synchronized (GLOBAL) {
      Thread.onSpinWait();
    }
  }

  private void enterParameter(Object guard) {
    synchronized (guard) {
      number++;
    }
  }

  private void enterVariable() {
    Object guard = lock;
    synchronized (guard) {
      number++;
    }
  }

  private void enterEither(boolean first) {
    synchronized (first ? lock : other.guard) {
      number++;
    }
  }

  private void enterEitherWay(boolean first) {
    Object guard = lock;
    synchronized (first ? guard : lock) {
      number++;
    }
  }

  private void enterOther() {
    synchronized (this.other.guard) {
      number++;
    }
  }

  private void enterElement() {
    synchronized (stripes[number - number]) {
      number++;
    }
  }

  private void enterArray() {
    synchronized (stripes) {
      number++;
    }
  }

  private void enterAfterSwitch(int which) {
    switch (which) {
      case 1:
        number = 3;
        break;
      case 2:
      case 3:
        number = 4;
        break;
      default:
        number = 5;
    }
    switch (which) {
      case 1000:
        number = 6;
        break;
      default:
    }
    synchronized (lock) {
      number++;
    }
  }

  private void enterInLoop(long times) {
    Object guard = lock;
    for (long i = 0; i < times; i++) {
      double[] sums = {i, 2.5, times};
      synchronized (guard) {
        number += (int) sums[1];
      }
    }
  }
}
