// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Starved COUNT MILLIS: two virtual threads compute until COUNT others have been started, and for MILLIS from then on; those wait for a
 * carrier meanwhile. Needs -Djdk.virtualThreadScheduler.parallelism=2 and maxPoolSize=2. Each virtual thread measures how long it was queued: from
 * the call of its start to its first statement. Prints what it measured; times of day are in nanoseconds since the epoch.
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
    }

    long queued() {
      return ran - started;
    }

    String hog(String method) {
      return String.format(
          "{\"id\":%s,\"name\":\"%s\",\"class\":\"Starved\",\"method\":\"%s\",\"start\":%d,\"end\":%d,\"duration\":%d,\"queued\":%d}",
          Probe.id(thread), thread.getName(), method, ran, ended, ended - ran, queued());
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
    long last = Probe.now();
    boolean starved = finished.get() == 0; // the hogs have not left a carrier
    until = System.nanoTime() + nanos;
    allStarted = true;
    for (Task hog : hogs) hog.thread.join();
    for (Task task : tasks) task.thread.join();

    long sum = 0;
    long longest = 0;
    StringJoiner list = new StringJoiner(",", "[", "]");
    for (int i = 0; i < hogs.length; i++) {
      sum += hogs[i].queued();
      list.add(hogs[i].hog(methods[i]));
    }
    long lastRan = 0;
    for (Task task : tasks) {
      sum += task.queued();
      longest = Math.max(longest, task.queued());
      lastRan = Math.max(lastRan, task.ran);
    }
    System.out.printf(
        "{\"carriers\":%d,\"hogs\":%s,\"waiting\":%d,\"starved\":%b,\"queued_count\":%d,\"queued_sum\":%d,\"queued_longest\":%d,"
            + "\"starvation_start\":%d,\"all_started\":%d,\"starvation_end\":%d,\"last_ran\":%d}%n",
        CARRIERS, list, count, starved, count + hogs.length, sum, longest,
        tasks[0].started, last, Math.min(hogs[0].ended, hogs[1].ended), lastRan);
  }
}
