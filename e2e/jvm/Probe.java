// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Shared by the programs with known counts. They wait for each other by polling volatile fields and thread states, which causes no events,
 * and only the main thread prints, after all others have ended.
 *
 * <p>When a thread is WAITING, the agent has already seen the event: it precedes a park or sleep, and in Object.wait it precedes the release of
 * the monitor, which a notifier needs. This does not hold for BLOCKED, nor for Object.wait if the other thread needs no monitor, see {@link
 * Blocked}. The programs also check that the operating system reports the thread as sleeping, so that waits have some length.
 */
final class Probe {
  private static final Map<Thread, Path> STATS = new ConcurrentHashMap<>();

  /** Offset from System.nanoTime to nanoseconds since the epoch. */
  private static final long EPOCH = epoch();

  private Probe() {}

  /** Compares the two clocks several times and keeps the fastest comparison, since the thread may be preempted between two readings. */
  private static long epoch() {
    long best = 0;
    long quickest = Long.MAX_VALUE;
    for (int i = 0; i < 20; i++) {
      long before = System.nanoTime();
      long wall = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
      long after = System.nanoTime();
      if (after - before < quickest) {
        quickest = after - before;
        best = wall - before;
      }
    }
    return best;
  }

  static long now() {
    return System.nanoTime() + EPOCH;
  }

  static void until(BooleanSupplier condition) {
    for (int i = 1; !condition.getAsBoolean(); i++) {
      if (i % 100 == 0) {
        Thread.yield(); // there may be more threads than processors
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** Waits until a thread created here has stopped in the given state, which must not be BLOCKED. */
  static void until(Thread thread, Thread.State state) {
    until(() -> thread.getState() == state && sleeps(thread));
  }

  static Thread thread(Runnable work, String name) {
    return new Thread(
        () -> {
          register();
          work.run();
        },
        name);
  }

  static Thread started(Runnable work, String name) {
    Thread thread = thread(work, name);
    thread.start();
    return thread;
  }

  /** Registers the calling thread, so that others can wait for its states. */
  static void register() {
    try {
      Path self = Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
      STATS.put(Thread.currentThread(), self.resolve("stat"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static boolean sleeps(Thread thread) {
    Path stat = STATS.get(thread);
    if (stat == null) {
      return false;
    }
    try {
      String text = Files.readString(stat);
      return text.charAt(text.lastIndexOf(')') + 2) == 'S';
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  static int argument(String[] args, int otherwise) {
    return args.length > 0 ? Integer.parseInt(args[0]) : otherwise;
  }

  /** Returns the ids as JSON. */
  @SuppressWarnings("deprecation") // the oldest supported JDK lacks threadId
  static String ids(List<Thread> threads) {
    List<Long> ids = new ArrayList<>();
    for (Thread thread : threads) {
      ids.add(thread.getId());
    }
    return ids.toString();
  }

  static String id(Thread thread) {
    String ids = ids(List.of(thread));
    return ids.substring(1, ids.length() - 1);
  }
}
