// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Waits for something that another thread makes or takes, each in a method of its own, and pool threads that wait for work. */
final class MatrixTransfers {
  private static final String JUC = "java.util.concurrent.";

  private final SynchronousQueue<String> handover = new SynchronousQueue<>();
  private final BlockingQueue<String> empty = new ArrayBlockingQueue<>(1);
  private final BlockingQueue<String> full = new ArrayBlockingQueue<>(1);
  private volatile CompletableFuture<String> future;
  private volatile ForkJoinTask<?> task;
  private volatile int allowed;

  MatrixCase synchronousQueue(MatrixCase matrix) throws InterruptedException {
    matrix.expect("queue", JUC + "SynchronousQueue.take", "MatrixTransfers.takeHandover", "MatrixTransfers.handover");
    return MatrixSignals.run(matrix, "unpark", this::takeHandover, () -> handover.put(""));
  }

  private void takeHandover() throws InterruptedException {
    handover.take();
  }

  MatrixCase take(MatrixCase matrix) throws InterruptedException {
    matrix.expect("queue", JUC + "ArrayBlockingQueue.take", "MatrixTransfers.take", "MatrixTransfers.empty");
    return MatrixSignals.run(matrix, "unpark", this::take, () -> empty.put(""));
  }

  private void take() throws InterruptedException {
    empty.take();
  }

  MatrixCase put(MatrixCase matrix) throws InterruptedException {
    matrix.expect("queue", JUC + "ArrayBlockingQueue.put", "MatrixTransfers.put", "MatrixTransfers.full");
    full.add("");
    return MatrixSignals.run(matrix, "unpark", this::put, full::take);
  }

  private void put() throws InterruptedException {
    full.put("");
  }

  MatrixCase pollTimeout(MatrixCase matrix) throws InterruptedException {
    matrix.expect("queue", JUC + "ArrayBlockingQueue.poll", "MatrixTransfers.poll", "MatrixTransfers.empty");
    return MatrixSignals.timeouts(matrix, this::poll);
  }

  private void poll(int millis) throws InterruptedException {
    if (empty.poll(millis, TimeUnit.MILLISECONDS) != null) {
      throw new IllegalStateException("the queue is empty");
    }
  }

  MatrixCase future(MatrixCase matrix) throws InterruptedException {
    matrix.expect("future", JUC + "CompletableFuture.get", "MatrixTransfers.get", "MatrixTransfers.future");
    return MatrixSignals.run(matrix, "unpark", this::get, () -> future.complete(""));
  }

  private void get() throws Exception {
    future = new CompletableFuture<>();
    future.get();
  }

  /** A thread outside the pool joins a task that a worker runs. */
  MatrixCase forkJoin(MatrixCase matrix) throws InterruptedException {
    matrix.expect("future", JUC + "ForkJoinTask.join", "MatrixTransfers.joinTask", "MatrixTransfers.task");
    ForkJoinPool pool = pool(matrix.thread("worker"));
    int[] tasks = {0};
    allowed = 0;
    MatrixCase.Call wait =
        () -> {
          int number = tasks[0]++;
          task = pool.submit(() -> Probe.until(() -> allowed > number));
          joinTask();
        };
    MatrixSignals.run(matrix, "unpark", wait, () -> allowed++, i -> matrix.thread("worker"));
    end(pool);
    return matrix;
  }

  private void joinTask() {
    task.join();
  }

  /** A worker of a pool waits for a future, which the JDK does in a managed block. */
  MatrixCase managedBlock(MatrixCase matrix) throws InterruptedException {
    matrix.expect("future", JUC + "CompletableFuture.join", "MatrixTransfers.joinFuture", "MatrixTransfers.future");
    ForkJoinPool pool = pool(matrix.thread("waiter"));
    MatrixSignals.runIn(pool, matrix, "unpark", this::joinFuture, () -> future.complete(""));
    end(pool);
    return matrix;
  }

  private void joinFuture() {
    future = new CompletableFuture<>();
    future.join();
  }

  /** A worker of a pool has nothing to do between its tasks. */
  MatrixCase idle(MatrixCase matrix) throws InterruptedException {
    matrix.expect("idle", "*", "*", "*");
    Thread releaser = Probe.started(MatrixCase.unchecked(() -> feed(matrix)), matrix.thread("releaser"));
    releaser.join();
    return matrix;
  }

  private static void feed(MatrixCase matrix) throws Exception {
    AtomicReference<Thread> worker = new AtomicReference<>();
    ExecutorService pool = Executors.newFixedThreadPool(1, work -> worker.updateAndGet(none -> Probe.thread(work, matrix.thread("worker"))));
    AtomicLong began = new AtomicLong();
    AtomicLong ended = new AtomicLong();
    Runnable work =
        () -> {
          began.set(Probe.now());
          ended.set(Probe.now());
        };
    pool.execute(work);
    for (int millis : new int[] {60, 90}) {
      Probe.until(worker.get(), Thread.State.WAITING);
      long called = ended.get();
      long seen = Probe.now();
      matrix.sleep(millis);
      long least = Probe.now() - seen;
      pool.execute(work);
      Probe.until(() -> ended.get() != called);
      matrix.add(new MatrixCase.Wait(worker.get().getName(), called, began.get(), least, "unpark", matrix.thread("releaser")));
      matrix.path(millis);
    }
    end(pool);
  }

  /** A pool of one worker, which has the name. */
  private static ForkJoinPool pool(String name) {
    AtomicInteger workers = new AtomicInteger();
    ForkJoinPool.ForkJoinWorkerThreadFactory factory =
        pool -> {
          int number = workers.getAndIncrement(); // others take the place of a worker that is blocked
          ForkJoinWorkerThread worker =
              new ForkJoinWorkerThread(pool) {
                @Override
                protected void onStart() {
                  Probe.register();
                }
              };
          worker.setName(number == 0 ? name : name + "-" + number);
          return worker;
        };
    return new ForkJoinPool(1, factory, null, false);
  }

  private static void end(ExecutorService pool) throws InterruptedException {
    pool.shutdown();
    if (!pool.awaitTermination(1, TimeUnit.HOURS)) {
      throw new IllegalStateException("the pool still runs");
    }
  }
}
