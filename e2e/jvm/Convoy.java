// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A report sleeps while it holds a lock, until all matchers wait for the lock and for a known time after that; then each matcher sleeps with
 * the lock. The lock is a monitor, a ReentrantLock, or none, for comparison: sleeping threads need no processor, so they never wait for one.
 */
public final class Convoy {
  private static final int MATCHERS = 8;
  private static final int REPORT = 600; // milliseconds
  private static final int MATCH = 60;

  private static final class Monitor {}

  private final Monitor monitor = new Monitor();
  private final ReentrantLock lock = new ReentrantLock();
  private final String kind;
  private final String prefix;
  private final List<Thread> matchers = new ArrayList<>();
  private final long[] took = new long[MATCHERS];
  private volatile long ready; // when all matchers have started, and wait if there is a lock
  private volatile long reported;
  private volatile long wanted; // when the report began to acquire the lock
  private volatile long taken; // when the first matcher had acquired it, after the report released it

  private Convoy(String kind, String prefix) {
    this.kind = kind;
    this.prefix = prefix;
  }

  public static void main(String[] args) throws InterruptedException {
    new Convoy("none", "rehearsal-").run(1); // loads the classes
    Blocked.await(new Monitor());
    System.out.println(new Convoy(args[0], "").run(REPORT));
  }

  private String run(int millis) throws InterruptedException {
    for (int i = 0; i < MATCHERS; i++) {
      int number = i;
      Runnable work =
          () -> {
            long began = System.nanoTime();
            guarded(
                () -> {
                  if (taken == 0) taken = System.nanoTime();
                  sleep(Math.min(millis, MATCH));
                });
            took[number] = System.nanoTime() - began;
          };
      matchers.add(Probe.thread(work, prefix + "matcher-" + i));
    }
    Runnable work =
        () -> {
          wanted = System.nanoTime();
          guarded(() -> report(millis));
        };
    Thread report = Probe.started(work, prefix + "report");
    report.join();
    for (Thread matcher : matchers) {
      matcher.join();
    }
    StringBuilder json = new StringBuilder("{\"main\":" + (System.nanoTime() - ready) + ",\"report\":" + reported + ",\"held\":" + (taken - wanted));
    for (int i = 0; i < MATCHERS; i++) {
      json.append(",\"" + matchers.get(i).getName() + "\":" + took[i]);
    }
    return json.append("}").toString();
  }

  private void guarded(Runnable work) {
    switch (kind) {
      case "monitor":
        synchronized (monitor) {
          work.run();
        }
        break;
      case "lock":
        lock.lock();
        try {
          work.run();
        } finally {
          lock.unlock();
        }
        break;
      default:
        work.run();
    }
  }

  private void report(int millis) {
    long began = System.nanoTime();
    for (Thread matcher : matchers) {
      matcher.start();
      if (kind.equals("monitor")) {
        Blocked.await(monitor, matcher);
      } else if (kind.equals("lock")) {
        Probe.until(matcher, Thread.State.WAITING);
      }
    }
    ready = System.nanoTime();
    sleep(millis);
    reported = System.nanoTime() - began;
  }

  private static void sleep(int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
