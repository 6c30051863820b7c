// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.function.IntFunction;

/** One thread waits several times; another one sees it waiting, and ends the wait a known time later. */
final class MatrixSignals {
  private static final int[] LENGTHS = {60, 90}; // milliseconds

  private final MatrixCase matrix;
  private final String cause;
  private final MatrixCase.Call wait;
  private final long[] called = new long[LENGTHS.length];
  private final long[] returned = new long[LENGTHS.length];
  private volatile Thread waiter;
  private volatile int passed;
  private boolean joinsReleaser;

  private MatrixSignals(MatrixCase matrix, String cause, MatrixCase.Call wait) {
    this.matrix = matrix;
    this.cause = cause;
    this.wait = wait;
  }

  /** The releaser ends the waits. */
  static MatrixCase run(MatrixCase matrix, String cause, MatrixCase.Call wait, MatrixCase.Call release) throws InterruptedException {
    return run(matrix, cause, wait, release, i -> matrix.thread("releaser"));
  }

  /** The releaser causes the thread with the given name to end a wait. */
  static MatrixCase run(MatrixCase matrix, String cause, MatrixCase.Call wait, MatrixCase.Call release, IntFunction<String> by)
      throws InterruptedException {
    return new MatrixSignals(matrix, cause, wait).run(waits -> Probe.started(waits, matrix.thread("waiter")), release, by);
  }

  /** The waits are in a thread of the executor. */
  static MatrixCase runIn(Executor executor, MatrixCase matrix, String cause, MatrixCase.Call wait, MatrixCase.Call release)
      throws InterruptedException {
    return new MatrixSignals(matrix, cause, wait).run(executor, release, i -> matrix.thread("releaser"));
  }

  /** The releaser interrupts the waiter. Without the wait, the scenario would last as long: the main thread joins the releaser. */
  static MatrixCase interrupts(MatrixCase matrix, MatrixCase.Call wait) throws InterruptedException {
    MatrixSignals signals = new MatrixSignals(matrix, "interrupt", () -> interrupted(wait));
    Executor executor = waits -> Probe.started(waits, matrix.thread("waiter"));
    signals.joinsReleaser = true;
    return signals.run(executor, () -> signals.waiter.interrupt(), i -> matrix.thread("releaser"));
  }

  private static void interrupted(MatrixCase.Call wait) throws Exception {
    try {
      wait.run();
    } catch (InterruptedException e) {
      return;
    }
    throw new IllegalStateException("not interrupted");
  }

  interface Timed {
    void run(int millis) throws Exception;
  }

  /** The waits end by their timeouts. */
  static MatrixCase timeouts(MatrixCase matrix, Timed wait) throws InterruptedException {
    Runnable all =
        MatrixCase.unchecked(
            () -> {
              for (int millis : LENGTHS) {
                long called = Probe.now();
                wait.run(matrix.millis(millis));
                long least = (matrix.millis(millis) - 1) * 1_000_000L; // the thread has run before it waits
                long returned = Probe.now();
                matrix.saves(least, returned - called);
                matrix.add(new MatrixCase.Wait(matrix.thread("waiter"), called, returned, least, "timeout", ""));
              }
            });
    Probe.started(all, matrix.thread("waiter")).join();
    for (int millis : LENGTHS) {
      matrix.path(millis);
    }
    return matrix;
  }

  private void waits() throws Exception {
    waiter = Thread.currentThread();
    for (int i = 0; i < LENGTHS.length; i++) {
      called[i] = Probe.now();
      wait.run();
      returned[i] = Probe.now();
      passed = i + 1;
    }
  }

  private MatrixCase run(Executor executor, MatrixCase.Call release, IntFunction<String> by) throws InterruptedException {
    long[] least = new long[LENGTHS.length];
    executor.execute(MatrixCase.unchecked(this::waits));
    Probe.until(() -> waiter != null);
    Runnable releases =
        MatrixCase.unchecked(
            () -> {
              for (int i = 0; i < LENGTHS.length; i++) {
                Probe.until(waiter, Thread.State.WAITING);
                long seen = Probe.now();
                matrix.sleep(LENGTHS[i]);
                least[i] = Probe.now() - seen;
                release.run();
                int done = i + 1;
                Probe.until(() -> passed >= done); // only then is a WAITING the next one
              }
            });
    Thread releaser = Probe.started(releases, matrix.thread("releaser"));
    if (!joinsReleaser && !(waiter instanceof ForkJoinWorkerThread)) {
      waiter.join(); // first, so that this thread depends on the other one through the waits
    }
    releaser.join();
    for (int millis : LENGTHS) {
      matrix.path(millis);
    }
    for (int i = 0; i < LENGTHS.length; i++) {
      matrix.add(new MatrixCase.Wait(waiter.getName(), called[i], returned[i], least[i], cause, by.apply(i)));
    }
    return matrix;
  }
}
