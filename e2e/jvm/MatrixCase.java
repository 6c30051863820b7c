// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/**
 * What one scenario knows about its waits: what for, where, how many, how long at least and at most, who held the lock meanwhile, and who
 * ended each. A value of "*" is not compared.
 */
final class MatrixCase {
  interface Call {
    void run() throws Exception;
  }

  /** A call that waits, with bounds of the wait's length in nanoseconds. The call's times are nanoseconds since the epoch. */
  static final class Wait {
    final String thread;
    final long called;
    final long returned;
    final long least;
    String cause;
    final String releaser;
    String holder = "";
    String held = ""; // the holder's method
    double shareLeast;
    double shareMost;

    Wait(String thread, long called, long returned, long least, String cause, String releaser) {
      this.thread = thread;
      this.called = called;
      this.returned = returned;
      this.least = least;
      this.cause = cause;
      this.releaser = releaser;
    }

    /** Sets who held the lock longest during the wait, in which method, and bounds of its share of the wait. */
    void heldBy(Thread holder, String function, double shareLeast, double shareMost) {
      this.holder = holder.getName();
      this.held = function;
      this.shareLeast = shareLeast;
      this.shareMost = Math.min(1, shareMost);
    }

    String json() {
      return String.format(
          Locale.ROOT,
          "{\"thread\":\"%s\",\"called\":%d,\"returned\":%d,\"least\":%d,\"cause\":\"%s\",\"releaser\":\"%s\",\"holder\":\"%s\","
              + "\"held\":\"%s\",\"share_least\":%f,\"share_most\":%f}",
          thread, called, returned, least, cause, releaser, holder, held, shareLeast, shareMost);
    }
  }

  // The sums of a scenario and its rehearsal, by name.
  private static final Map<String, Long> SAVES_LEAST = new ConcurrentHashMap<>();
  private static final Map<String, Long> SAVES_MOST = new ConcurrentHashMap<>();

  private final String name;
  private final boolean rehearsal;
  private final List<Wait> waits = new ArrayList<>();
  private int path; // milliseconds
  private String kind;
  private String entry;
  private String function;
  private String lock;

  /** A rehearsal only loads the classes: its waits are short, and its threads have other names. */
  MatrixCase(String name, boolean rehearsal) {
    this.name = name;
    this.rehearsal = rehearsal;
  }

  /** Sets what all waits have in common; the entry is the library's method that the function called. */
  MatrixCase expect(String kind, String entry, String function, String lock) {
    this.kind = kind;
    this.entry = entry;
    this.function = function;
    this.lock = lock;
    return this;
  }

  String thread(String role) {
    return (rehearsal ? "rehearsal-" : "") + name + "-" + role;
  }

  int millis(int millis) {
    return rehearsal ? Math.max(1, millis / 20) : millis;
  }

  void sleep(int millis) {
    try {
      Thread.sleep(millis(millis));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  void add(Wait wait) {
    waits.add(wait);
  }

  /** Adds milliseconds for which the main thread depended on what the scenario's threads did. */
  void path(int millis) {
    path += millis;
  }

  /** Adds bounds of the nanoseconds that the main thread would save if no thread had to wait. */
  void saves(long least, long most) {
    SAVES_LEAST.merge(name, least, Long::sum);
    SAVES_MOST.merge(name, most, Long::sum);
  }

  /** Sets who held the lock during all waits. */
  MatrixCase heldBy(Thread holder, String function) {
    for (Wait wait : waits) {
      wait.heldBy(holder, function, 1, 1);
    }
    return this;
  }

  /** Sets what ended all waits. */
  MatrixCase endedBy(String cause) {
    for (Wait wait : waits) {
      wait.cause = cause;
    }
    return this;
  }

  /** Adds a thread that also had what all waits were for, all the time. */
  MatrixCase alsoHeldBy(Thread other) {
    for (Wait wait : waits) {
      wait.holder += "|" + other.getName();
      wait.held = "*";
      wait.shareMost = 1;
    }
    return this;
  }

  /** What {@link #block} waits for: of a class of its own, so that nothing adds it to the waits of a scenario. */
  private static final class Gate {}

  /** Blocks the calling thread for a moment: only threads that were blocked have a critical path. */
  static void block() throws InterruptedException {
    Gate monitor = new Gate();
    Thread caller = Thread.currentThread();
    CountDownLatch held = new CountDownLatch(1);
    Runnable holds =
        () -> {
          synchronized (monitor) {
            held.countDown();
            Blocked.await(monitor, caller);
          }
        };
    Thread holder = Probe.started(holds, "rehearsal-holder");
    held.await();
    synchronized (monitor) {
      Thread.onSpinWait();
    }
    holder.join();
  }

  static Runnable unchecked(Call call) {
    return () -> {
      try {
        call.run();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    };
  }

  String json() {
    List<String> all = new ArrayList<>();
    for (Wait wait : waits) {
      all.add(wait.json());
    }
    return String.format(
        "{\"name\":\"%s\",\"kind\":\"%s\",\"entry\":\"%s\",\"function\":\"%s\",\"lock\":\"%s\",\"path_millis\":%d,"
            + "\"saves_least\":%d,\"saves_most\":%d,\"waits\":[%s]}",
        name, kind, entry, function, lock, path, SAVES_LEAST.getOrDefault(name, 0L), SAVES_MOST.getOrDefault(name, 0L), String.join(",", all));
  }
}
