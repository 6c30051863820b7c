// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Makes threads wait in every way at random, on few locks and with much garbage, for a number of seconds, or longer on slow machines. A
 * lock protects a pair of numbers that must be equal: if mutual exclusion, a wait or an interrupt goes wrong, the
 * program fails.
 */
public final class Stress {
  private static final int WORKERS = 12;
  private static final int LOCKS = 3;
  private static final int LEAST_STEPS = 1_000; // of each worker

  /** Whether children are virtual threads, which require JDK 21 or later: -Dvirtual=true. */
  private static final boolean VIRTUAL = Boolean.getBoolean("virtual");

  private final Guarded[] guarded = new Guarded[LOCKS];
  private final AtomicReferenceArray<Thread> workers = new AtomicReferenceArray<>(WORKERS);
  private final AtomicLong started = new AtomicLong();
  private final AtomicLong ended = new AtomicLong();
  private final AtomicReferenceArray<byte[]> garbage = new AtomicReferenceArray<>(64);
  private final long end;
  private volatile Throwable failure;

  private static final class Guarded {
    final ReentrantLock lock = new ReentrantLock();
    long monitorOne;
    long monitorTwo;
    long lockOne;
    long lockTwo;
  }

  private Stress(long seconds) {
    this.end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
  }

  public static void main(String[] args) throws InterruptedException {
    new Stress(Probe.argument(args, 3)).run();
  }

  private void run() throws InterruptedException {
    for (int i = 0; i < LOCKS; i++) {
      guarded[i] = new Guarded();
    }
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      int me = i;
      Thread worker = new Thread(() -> work(me), "stress-" + i);
      workers.set(i, worker);
      all.add(worker);
    }
    for (Thread worker : all) {
      worker.start();
    }
    for (Thread worker : all) {
      worker.join();
    }
    boolean balanced = started.get() == ended.get();
    for (Guarded g : guarded) {
      balanced &= g.monitorOne == g.monitorTwo && g.lockOne == g.lockTwo;
    }
    System.out.println(failure == null && balanced ? "{\"stress\":\"held\"}" : "{\"stress\":\"" + failure + "\"}");
    System.exit(failure == null && balanced ? 0 : 1);
  }

  private void work(int me) {
    SplittableRandom random = new SplittableRandom(me);
    try {
      for (int steps = 0; (steps < LEAST_STEPS || System.nanoTime() < end) && failure == null; steps++) {
        try {
          step(guarded[random.nextInt(LOCKS)], random);
        } catch (InterruptedException e) {
          // Expected: others interrupt at random.
        }
      }
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  private void step(Guarded g, SplittableRandom random) throws InterruptedException {
    int what = random.nextInt(14);
    if (what < 4) {
      change(g, random);
    } else if (what < 6) {
      changeUnderLock(g, random);
    } else if (what == 6) {
      synchronized (g) {
        g.wait(1, random.nextInt(1000));
      }
    } else if (what == 7) {
      synchronized (g) {
        g.notify();
      }
    } else if (what == 8) {
      synchronized (g) {
        g.notifyAll();
      }
    } else if (what == 9) {
      LockSupport.parkNanos(g, random.nextInt(200_000));
    } else if (what == 10) {
      LockSupport.unpark(workers.get(random.nextInt(WORKERS)));
    } else if (what == 11) {
      workers.get(random.nextInt(WORKERS)).interrupt();
    } else if (what == 12) {
      child(g, random);
    } else {
      Thread.yield();
      Thread.sleep(0, random.nextInt(100_000));
    }
    garbage.set(random.nextInt(64), new byte[random.nextInt(20_000)]);
  }

  private static void change(Guarded g, SplittableRandom random) {
    synchronized (g) {
      long before = ++g.monitorOne;
      spin(random);
      if (++g.monitorTwo != before) {
        throw new IllegalStateException("two threads were in one monitor");
      }
    }
  }

  private static void changeUnderLock(Guarded g, SplittableRandom random) throws InterruptedException {
    if (random.nextBoolean()) {
      g.lock.lockInterruptibly();
    } else {
      g.lock.lock();
    }
    try {
      long before = ++g.lockOne;
      spin(random);
      if (++g.lockTwo != before) {
        throw new IllegalStateException("two threads had one lock");
      }
    } finally {
      g.lock.unlock();
    }
  }

  private void child(Guarded g, SplittableRandom random) throws InterruptedException {
    SplittableRandom its = random.split();
    Runnable body =
        () -> {
          change(g, its);
          ended.incrementAndGet();
        };
    String name = "child-" + ThreadLocalRandom.current().nextInt(4);
    Thread child = VIRTUAL ? virtual(body, name) : new Thread(body, name);
    started.incrementAndGet();
    child.start();
    boolean interrupted = false;
    while (child.isAlive()) {
      try {
        child.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      throw new InterruptedException();
    }
  }

  /** Thread.ofVirtual().name(name).unstarted(body), for compilers that lack it. */
  private static Thread virtual(Runnable body, String name) {
    try {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      Object named = type.getMethod("name", String.class).invoke(builder, name);
      return (Thread) type.getMethod("unstarted", Runnable.class).invoke(named, body);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void spin(SplittableRandom random) {
    for (int i = random.nextInt(300); i > 0; i--) {
      Thread.onSpinWait();
    }
  }
}
