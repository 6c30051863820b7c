// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Switched WEFT OPTIONS: threads wait nearly all the time, each in one way, while options of the agent change. Prints the threads, and from when
 * until when they waited with these options.
 */
public final class Switched {
  private static final long MILLIS = 20;
  private static volatile boolean over;

  private interface Wait {
    void once() throws InterruptedException;
  }

  private Switched() {}

  public static void main(String[] args) throws IOException, InterruptedException {
    Object quiet = new Object();
    Object busy = new Object();
    Object gate = new Object();
    List<Thread> threads = new ArrayList<>();
    begin(threads, "wait", () -> wait(quiet, false));
    begin(threads, "notify", () -> wait(busy, true));
    begin(threads, "park", () -> LockSupport.parkNanos(MILLIS * 1_000_000));
    begin(threads, "sleep", () -> Thread.sleep(MILLIS));
    begin(
        threads,
        "hold",
        () -> {
          hold(gate, MILLIS);
          Thread.sleep(5); // else it may take the monitor again and again, and the other thread would be in one wait all the time
        });
    begin(threads, "block", () -> hold(gate, 0));
    Thread.sleep(5 * MILLIS);
    Attach.options(args[0], args[1]);
    Thread.sleep(5 * MILLIS); // the waits that were in progress end
    long from = Probe.now();
    Thread.sleep(20 * MILLIS);
    long to = Probe.now();
    over = true;
    for (Thread thread : threads) thread.join();
    StringBuilder ids = new StringBuilder();
    for (Thread thread : threads) {
      ids.append(ids.length() == 0 ? "" : ",").append("\"").append(thread.getName()).append("\":").append(Probe.id(thread));
    }
    System.out.printf("{\"from\":%d,\"to\":%d,\"threads\":{%s}}%n", from, to, ids);
  }

  private static void begin(List<Thread> threads, String name, Wait wait) {
    threads.add(
        Probe.started(
            () -> {
              try {
                while (!over) wait.once();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            },
            name));
  }

  private static void wait(Object lock, boolean notify) throws InterruptedException {
    synchronized (lock) {
      if (notify) lock.notify();
      lock.wait(MILLIS);
    }
  }

  private static void hold(Object lock, long millis) throws InterruptedException {
    synchronized (lock) {
      if (millis > 0) Thread.sleep(millis);
    }
  }
}
