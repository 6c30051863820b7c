// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starved COUNT MILLIS: two virtual threads compute until COUNT others have been started, and for MILLIS from then on; those wait for a
 * carrier meanwhile. Needs -Djdk.virtualThreadScheduler.parallelism=2 and maxPoolSize=2. Each virtual thread measures how long it was queued: at
 * most from the call of its start to its first statement, at least from the return of its start until the first hog has computed. Prints
 * bounds of what Weft must find: how long each hog had a carrier, and how long all, and the longest, were queued. While a task was queued, both
 * hogs had their carriers.
 */
public final class Starved {
  private static final int CARRIERS = 2;

  private static final AtomicInteger computing = new AtomicInteger();
  private static volatile boolean allStarted;
  private static volatile long until; // the hogs compute, once all are started
  private static volatile long result; // else the JIT may drop the computations

  /** A virtual thread and what it measured, by Probe.now. */
  private static final class Task {
    final Thread thread;
    long started; // when start was called
    long queuedSince; // when it had returned
    long ran;
    long ended;

    Task(String name, Runnable body) throws ReflectiveOperationException {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null); // for compilers that lack it
      Class<?> type = Class.forName("java.lang.Thread$Builder");
      type.getMethod("name", String.class).invoke(builder, name);
      Runnable measured =
          () -> {
            ran = Probe.now();
            body.run();
            ended = Probe.now();
          };
      thread = (Thread) type.getMethod("unstarted", Runnable.class).invoke(builder, measured);
    }

    void start() {
      started = Probe.now();
      thread.start();
      queuedSince = Probe.now();
    }

    /** Waits for its end, and returns how long it had a carrier at most. */
    long mostRun() throws InterruptedException {
      thread.join();
      return Probe.now() - started;
    }

    long queued() {
      return ran - started;
    }

    String hog(String method, long most) {
      return String.format(
          "{\"id\":%s,\"name\":\"%s\",\"class\":\"Starved\",\"method\":\"%s\",\"most\":%d}", Probe.id(thread), thread.getName(), method, most);
    }
  }

  private Starved() {}

  private static void compress() {
    long sum = 1;
    while (!allStarted || System.nanoTime() < until) {
      for (int i = 0; i < 1000; i++) sum = sum * 31 + i;
    }
    result = sum;
  }

  private static void encrypt() {
    long sum = 1;
    while (!allStarted || System.nanoTime() < until) {
      for (int i = 0; i < 1000; i++) sum = Long.rotateLeft(sum, 7) ^ i;
    }
    result = sum;
  }

  public static void main(String[] args) throws Exception {
    int count = Integer.parseInt(args[0]);
    long nanos = Long.parseLong(args[1]) * 1_000_000;
    String[] methods = {"compress", "encrypt"};
    Task[] hogs = {
      new Task(
          "hog-compress",
          () -> {
            computing.incrementAndGet();
            compress();
          }),
      new Task(
          "hog-encrypt",
          () -> {
            computing.incrementAndGet();
            encrypt();
          })
    };
    AtomicInteger finished = new AtomicInteger();
    Task[] tasks = new Task[count];
    for (int i = 0; i < count; i++) tasks[i] = new Task("task-" + i, finished::incrementAndGet);

    for (Task hog : hogs) hog.start();
    Probe.until(() -> computing.get() == CARRIERS);
    for (Task task : tasks) task.start();
    boolean starved = finished.get() == 0; // the hogs have not left a carrier
    until = System.nanoTime() + nanos;
    allStarted = true;
    long[] most = {hogs[0].mostRun(), hogs[1].mostRun()};
    for (Task task : tasks) task.thread.join();

    long left = Math.min(hogs[0].ended, hogs[1].ended); // until then there was no carrier
    long sum = 0;
    long least = 0;
    long longest = 0;
    StringJoiner list = new StringJoiner(",", "[", "]");
    for (int i = 0; i < hogs.length; i++) {
      sum += hogs[i].queued();
      list.add(hogs[i].hog(methods[i], most[i]));
    }
    for (Task task : tasks) {
      sum += task.queued();
      least += left - task.queuedSince;
      longest = Math.max(longest, task.queued());
    }
    System.out.printf(
        "{\"hogs\":%s,\"waiting\":%d,\"starved\":%b,\"count\":%d,\"least\":%d,\"most\":%d,\"longest_least\":%d,\"longest_most\":%d}%n",
        list, count, starved, count + hogs.length, least, sum, left - tasks[0].queuedSince, longest);
  }
}
