// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/** A thread that reads its own counters just before it ends, so that they are complete. */
final class Actor {
  private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

  interface Work {
    void run(Actor self) throws InterruptedException;
  }

  final Thread thread;

  // Bounds of its times in nanoseconds, measured by this thread and by others.
  final AtomicLong blockedLeast = new AtomicLong();
  final AtomicLong blockedMost = new AtomicLong();
  final AtomicLong waitedLeast = new AtomicLong();
  final AtomicLong waitedMost = new AtomicLong();

  volatile int parks;
  volatile ThreadInfo counters;
  volatile boolean mayLeave;

  @SuppressWarnings("deprecation") // the oldest supported JDK lacks threadId
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

  /** Records the time since which the thread is known to wait for a notification. */
  long waiting() {
    Blocked.awaitWait(thread);
    return System.nanoTime();
  }

  /** Records the time since which the thread is known to sleep. */
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
