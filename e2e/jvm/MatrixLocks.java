// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/** Waits for locks and permits, each in a method of its own. */
final class MatrixLocks {
  private static final String JUC = "java.util.concurrent.";

  /** Both are right for a wait that an unpark by the lock's owner ends. */
  private static final String PARKED = "handoff|unpark";

  private final Object monitor = new Object();
  private final ReentrantLock lock = new ReentrantLock();
  private final ReentrantLock fair = new ReentrantLock(true);
  private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
  private final StampedLock stamped = new StampedLock();
  private final Semaphore permits = new Semaphore(1);

  private static void parked(Thread thread) {
    Probe.until(thread, Thread.State.WAITING);
  }

  MatrixCase monitor(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", "", "MatrixLocks.enterMonitor", "MatrixLocks.monitor");
    return MatrixTurns.run(matrix, "handoff", thread -> Blocked.await(monitor, thread), this::enterMonitor);
  }

  private void enterMonitor(MatrixTurns.Turn turn) {
    synchronized (monitor) {
      turn.hold();
    }
  }

  MatrixCase lock(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantLock.lock", "MatrixLocks.takeLock", "MatrixLocks.lock");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, this::takeLock);
  }

  private void takeLock(MatrixTurns.Turn turn) {
    lock.lock();
    try {
      turn.hold();
    } finally {
      lock.unlock();
    }
  }

  MatrixCase fair(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantLock.lock", "MatrixLocks.takeFair", "MatrixLocks.fair");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, this::takeFair);
  }

  private void takeFair(MatrixTurns.Turn turn) {
    fair.lock();
    try {
      turn.hold();
    } finally {
      fair.unlock();
    }
  }

  MatrixCase write(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantReadWriteLock$WriteLock.lock", "MatrixLocks.takeWrite", "MatrixLocks.rw.writeLock()");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, this::takeWrite);
  }

  private void takeWrite(MatrixTurns.Turn turn) {
    rw.writeLock().lock();
    try {
      turn.hold();
    } finally {
      rw.writeLock().unlock();
    }
  }

  MatrixCase read(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantReadWriteLock$ReadLock.lock", "MatrixLocks.takeRead", "MatrixLocks.rw.readLock()");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, List.of(this::takeWrite, this::takeWrite, this::takeRead), 2);
  }

  private void takeRead(MatrixTurns.Turn turn) {
    rw.readLock().lock();
    try {
      turn.hold();
    } finally {
      rw.readLock().unlock();
    }
  }

  MatrixCase stamped(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.StampedLock.writeLock", "MatrixLocks.takeStamped", "MatrixLocks.stamped");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, this::takeStamped);
  }

  private void takeStamped(MatrixTurns.Turn turn) {
    long stamp = stamped.writeLock();
    try {
      turn.hold();
    } finally {
      stamped.unlockWrite(stamp);
    }
  }

  /** Only one thread waits: the JDK wakes the first one in line a time too often when there are more. */
  MatrixCase permit(MatrixCase matrix) throws InterruptedException {
    matrix.expect("permit", JUC + "Semaphore.acquire", "MatrixLocks.takePermit", "MatrixLocks.permits");
    return MatrixTurns.run(matrix, PARKED, MatrixLocks::parked, List.of(this::takePermit, this::takePermit), 1);
  }

  private void takePermit(MatrixTurns.Turn turn) throws InterruptedException {
    permits.acquire();
    try {
      turn.hold();
    } finally {
      permits.release();
    }
  }

  MatrixCase lockTimeout(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantLock.tryLock", "MatrixLocks.tryLock", "MatrixLocks.lock");
    return held(lock, () -> MatrixSignals.timeouts(matrix, this::tryLock));
  }

  private void tryLock(int millis) throws InterruptedException {
    if (lock.tryLock(millis, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("the lock is held");
    }
  }

  MatrixCase lockInterrupted(MatrixCase matrix) throws InterruptedException {
    matrix.expect("lock", JUC + "locks.ReentrantLock.lockInterruptibly", "MatrixLocks.lockInterruptibly", "MatrixLocks.lock");
    return held(lock, () -> MatrixSignals.interrupts(matrix, this::lockInterruptibly));
  }

  private void lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
  }

  MatrixCase permitTimeout(MatrixCase matrix) throws InterruptedException {
    matrix.expect("permit", JUC + "Semaphore.tryAcquire", "MatrixLocks.tryPermit", "MatrixLocks.permits");
    permits.acquire();
    MatrixSignals.timeouts(matrix, this::tryPermit).heldBy(Thread.currentThread(), "*");
    permits.release();
    return matrix;
  }

  private void tryPermit(int millis) throws InterruptedException {
    if (permits.tryAcquire(millis, TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("the permit is taken");
    }
  }

  private interface Scenario {
    MatrixCase run() throws InterruptedException;
  }

  private static MatrixCase held(Lock lock, Scenario scenario) throws InterruptedException {
    lock.lock();
    try {
      return scenario.run().heldBy(Thread.currentThread(), "*");
    } finally {
      lock.unlock();
    }
  }
}
