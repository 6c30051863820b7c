// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * VirtualTimeouts TURNS: waits of platform and virtual threads with and without a timeout, each of which ends in a known way, TURNS times.
 * Prints the thread that waits, the one that ends the waits, and how.
 */
public final class VirtualTimeouts {
  private static final long SHORT = TimeUnit.MILLISECONDS.toNanos(15);
  private static final long LONG = TimeUnit.MINUTES.toNanos(10);

  /** Waits once. */
  private interface Wait {
    void once() throws Exception;
  }

  /** Ends the wait, as another thread that has prepared it. */
  private interface Ends {
    void wait(Thread waiter) throws Exception;
  }

  private static final Ends NOTHING = waiter -> {};

  private final StringJoiner results;
  private final int turns;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition condition = lock.newCondition();
  private volatile int begun;
  private volatile int ended;
  private volatile int freed;

  private VirtualTimeouts(int turns, StringJoiner results) {
    this.turns = turns;
    this.results = results;
  }

  public static void main(String[] args) throws Exception {
    int turns = Integer.parseInt(args[0]);
    StringJoiner results = new StringJoiner(",", "{\"turns\":" + turns + ",\"cases\":[", "]}");
    for (int i = 0; i < 4; i++) {
      boolean virtual = i % 2 == 1;
      boolean virtualOther = i > 1;
      new VirtualTimeouts(turns, results).all(virtual, virtualOther);
    }
    System.out.println(results);
  }

  private void all(boolean virtual, boolean other) throws Exception {
    run("tryLock", "timeout", virtual, other, true, () -> check(!lock.tryLock(SHORT, TimeUnit.NANOSECONDS)), this::awaitEnd);
    run("tryLock", "handoff", virtual, other, true, this::tryLong, waiter -> lock.unlock());
    run("lock", "handoff", virtual, other, true, this::lockOnce, waiter -> lock.unlock());
    run("lockInterruptibly", "interrupt", virtual, other, true, this::interrupted, this::interruptAndAwait);
    run("await", "timeout", virtual, other, false, this::awaitShort, NOTHING);
    run("sleep", "timeout", virtual, other, false, () -> Thread.sleep(SHORT / 1_000_000), NOTHING);
    run("parkNanos", "timeout", virtual, other, false, () -> LockSupport.parkNanos(this, SHORT), NOTHING);
    run("parkNanos", "unpark", virtual, other, false, () -> untilFreed(() -> LockSupport.parkNanos(this, LONG)), this::free);
    run(
        "parkUntil",
        "timeout",
        virtual,
        other,
        false,
        () -> LockSupport.parkUntil(this, System.currentTimeMillis() + SHORT / 1_000_000),
        NOTHING);
    run(
        "parkUntil",
        "unpark",
        virtual,
        other,
        false,
        () -> untilFreed(() -> LockSupport.parkUntil(this, System.currentTimeMillis() + LONG / 1_000_000)),
        this::free);
  }

  /** Parks again if a park returns on its own. */
  private void untilFreed(Runnable park) {
    do {
      park.run();
    } while (freed != begun);
  }

  private void free(Thread waiter) {
    freed = begun;
    LockSupport.unpark(waiter);
  }

  private void tryLong() throws InterruptedException {
    check(lock.tryLock(LONG, TimeUnit.NANOSECONDS));
    lock.unlock();
  }

  private void lockOnce() {
    lock.lock();
    lock.unlock();
  }

  private void interrupted() {
    try {
      lock.lockInterruptibly();
      throw new AssertionError("not interrupted");
    } catch (InterruptedException e) {
      check(!Thread.currentThread().isInterrupted());
    }
  }

  private void interruptAndAwait(Thread waiter) {
    waiter.interrupt();
    awaitEnd(waiter);
  }

  private void awaitShort() throws InterruptedException {
    lock.lock();
    try {
      check(!condition.await(SHORT, TimeUnit.NANOSECONDS));
    } finally {
      lock.unlock();
    }
  }

  private void awaitEnd(Thread waiter) {
    int turn = begun;
    until(() -> ended == turn);
    lock.unlock();
  }

  private static void check(boolean condition) {
    if (!condition) throw new AssertionError();
  }

  private void run(String way, String end, boolean virtual, boolean virtualOther, boolean locks, Wait wait, Ends ends) throws Exception {
    begun = ended = freed = 0;
    Thread waiter =
        Kinds.thread(
            virtual,
            way,
            () -> {
              if (!virtual) Probe.register();
              for (int i = 1; i <= turns; i++) {
                int turn = i;
                until(() -> begun >= turn);
                wait.once();
                ended = turn;
              }
            });
    Thread other =
        Kinds.thread(
            virtualOther,
            way + "-other",
            () -> {
              for (int i = 1; i <= turns; i++) {
                int turn = i;
                if (locks) lock.lock();
                begun = turn;
                if (ends != NOTHING) until(() -> waits(waiter, virtual) || ended == turn);
                ends.wait(waiter);
                until(() -> ended == turn);
              }
            });
    waiter.start();
    other.start();
    waiter.join();
    other.join();
    results.add(
        String.format(
            "{\"way\":\"%s\",\"end\":\"%s\",\"virtual\":%b,\"thread\":%s,\"other\":%s}", way, end, virtual, Probe.id(waiter), Probe.id(other)));
  }

  /** Spins; there are fewer threads than carriers. It seldom yields: the agent may record each time. */
  private static void until(BooleanSupplier condition) {
    for (int i = 1; !condition.getAsBoolean(); i++) {
      if (i % 100_000 == 0) Thread.yield();
      else Thread.onSpinWait();
    }
  }

  /** Whether a thread waits. A platform thread shows the state before it stops: it may then see an interrupt before the JVM is called. */
  private static boolean waits(Thread thread, boolean virtual) {
    Thread.State state = thread.getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING) && (virtual || Probe.sleeps(thread));
  }
}
