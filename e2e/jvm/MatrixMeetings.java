// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Exchanger;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Waits for another thread to arrive somewhere or to say something, each in a method of its own. */
final class MatrixMeetings {
  private static final String JUC = "java.util.concurrent.";
  private static final String CONDITION = JUC + "locks.AbstractQueuedSynchronizer$ConditionObject.";

  private final Object bell = new Object();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final CyclicBarrier barrier = new CyclicBarrier(2);
  private final Phaser phaser = new Phaser(2);
  private final Exchanger<String> exchanger = new Exchanger<>();
  private CountDownLatch latch = new CountDownLatch(1);
  private volatile Thread parked;
  private volatile Thread target;
  private volatile int ended;

  MatrixCase object(MatrixCase matrix) throws InterruptedException {
    matrix.expect("object", "java.lang.Object.wait", "MatrixMeetings.waitForBell", "MatrixMeetings.bell");
    return MatrixSignals.run(matrix, "notify", this::waitForBell, this::ring);
  }

  private void waitForBell() throws InterruptedException {
    synchronized (bell) {
      bell.wait();
    }
  }

  private void ring() {
    synchronized (bell) {
      bell.notify();
    }
  }

  MatrixCase condition(MatrixCase matrix) throws InterruptedException {
    matrix.expect("condition", CONDITION + "await", "MatrixMeetings.awaitCondition", "MatrixMeetings.changed");
    return MatrixSignals.run(matrix, "unpark", this::awaitCondition, this::signal);
  }

  private void awaitCondition() throws InterruptedException {
    lock.lock();
    try {
      changed.await();
    } finally {
      lock.unlock();
    }
  }

  private void signal() {
    lock.lock();
    try {
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  MatrixCase conditionTimeout(MatrixCase matrix) throws InterruptedException {
    matrix.expect("condition", CONDITION + "await", "MatrixMeetings.awaitTimed", "MatrixMeetings.changed");
    return MatrixSignals.timeouts(matrix, this::awaitTimed);
  }

  private void awaitTimed(int millis) throws InterruptedException {
    lock.lock();
    try {
      if (changed.await(millis, TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("somebody signalled");
      }
    } finally {
      lock.unlock();
    }
  }

  MatrixCase latch(MatrixCase matrix) throws InterruptedException {
    matrix.expect("latch", JUC + "CountDownLatch.await", "MatrixMeetings.awaitLatch", "MatrixMeetings.latch");
    MatrixCase.Call release =
        () -> {
          CountDownLatch reached = latch;
          latch = new CountDownLatch(1);
          reached.countDown();
        };
    return MatrixSignals.run(matrix, "unpark", this::awaitLatch, release);
  }

  private void awaitLatch() throws InterruptedException {
    latch.await();
  }

  MatrixCase barrier(MatrixCase matrix) throws InterruptedException {
    matrix.expect("barrier", JUC + "CyclicBarrier.await", "MatrixMeetings.awaitBarrier", "MatrixMeetings.barrier");
    return MatrixSignals.run(matrix, "unpark", this::awaitBarrier, this::awaitBarrier);
  }

  private void awaitBarrier() throws Exception {
    barrier.await();
  }

  MatrixCase phaser(MatrixCase matrix) throws InterruptedException {
    matrix.expect("barrier", JUC + "Phaser.arriveAndAwaitAdvance", "MatrixMeetings.advance", "MatrixMeetings.phaser");
    return MatrixSignals.run(matrix, "unpark", this::advance, this::advance);
  }

  private void advance() {
    phaser.arriveAndAwaitAdvance();
  }

  MatrixCase exchanger(MatrixCase matrix) throws InterruptedException {
    matrix.expect("exchange", JUC + "Exchanger.exchange", "MatrixMeetings.exchange", "MatrixMeetings.exchanger");
    return MatrixSignals.run(matrix, "unpark", this::exchange, this::exchange);
  }

  private void exchange() throws InterruptedException {
    exchanger.exchange("");
  }

  MatrixCase park(MatrixCase matrix) throws InterruptedException {
    matrix.expect("park", JUC + "locks.LockSupport.park", "MatrixMeetings.park", "*");
    return MatrixSignals.run(matrix, "unpark", this::park, () -> LockSupport.unpark(parked));
  }

  private void park() {
    parked = Thread.currentThread();
    LockSupport.park(this);
  }

  MatrixCase sleep(MatrixCase matrix) throws InterruptedException {
    matrix.expect("sleep", "java.lang.Thread.sleep", "MatrixMeetings.sleep", "");
    return MatrixSignals.timeouts(matrix, MatrixMeetings::sleep).endedBy("*");
  }

  private static void sleep(int millis) throws InterruptedException {
    Thread.sleep(millis);
  }

  MatrixCase join(MatrixCase matrix) throws InterruptedException {
    matrix.expect("join", "java.lang.Thread.join", "MatrixMeetings.join", "*");
    int[] targets = {0};
    MatrixCase.Call wait =
        () -> {
          int number = targets[0]++;
          target = Probe.started(() -> Probe.until(() -> ended > number), matrix.thread("target-" + number));
          join();
        };
    ended = 0;
    return MatrixSignals.run(matrix, "join", wait, () -> ended++, i -> matrix.thread("target-" + i));
  }

  private void join() throws InterruptedException {
    target.join();
  }
}
