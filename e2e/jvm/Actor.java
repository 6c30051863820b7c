// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/** A thread whose last act is to read its own counters: they miss nothing. */
final class Actor {
  private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

  interface Work {
    void run(Actor self) throws InterruptedException;
  }

  final Thread thread;

  // Bounds of its times, in nanoseconds, from what it and others measured.
  final AtomicLong blockedLeast = new AtomicLong();
  final AtomicLong blockedMost = new AtomicLong();
  final AtomicLong waitedLeast = new AtomicLong();
  final AtomicLong waitedMost = new AtomicLong();

  volatile int parks;
  volatile ThreadInfo counters;
  volatile boolean mayLeave;

  @SuppressWarnings("deprecation") // threadId is newer than the oldest JDK that these programs are for
  Actor(String name, Work work) {
    thread =
        Probe.thread(
            () -> {
              try {
                work.run(this);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              counters = BEAN.getThreadInfo(Thread.currentThread().getId());
              Probe.until(() -> mayLeave);
            },
            name);
  }

  /** Says since when it is known that the thread waits for a notification. */
  long waiting() {
    Blocked.awaitWait(thread);
    return System.nanoTime();
  }

  /** Says since when it is known that the thread sleeps. */
  long sleeping() {
    Probe.until(thread, Thread.State.TIMED_WAITING);
    return System.nanoTime();
  }

  void waited(long least, long most) {
    waitedLeast.addAndGet(least);
    waitedMost.addAndGet(most);
  }

  String json() {
    return String.format(
        "{\"name\":\"%s\",\"id\":%s,\"parks\":%d,\"blocked_count\":%d,\"blocked_millis\":%d,\"waited_count\":%d,\"waited_millis\":%d,"
            + "\"blocked_least\":%d,\"blocked_most\":%d,\"waited_least\":%d,\"waited_most\":%d}",
        thread.getName(), Probe.id(thread), parks,
        counters.getBlockedCount(), counters.getBlockedTime(), counters.getWaitedCount(), counters.getWaitedTime(),
        blockedLeast.get(), blockedMost.get(), waitedLeast.get(), waitedMost.get());
  }
}
