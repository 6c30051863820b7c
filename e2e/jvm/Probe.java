// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What the programs with known counts share. They wait for each other by spinning on volatile fields and on Thread.getState, which makes no
 * event of its own, and only the main thread prints, when all others have ended.
 */
final class Probe {
  /** How long a state is given to settle after it was seen: a thread is BLOCKED a moment before its event is complete. */
  static final long SETTLE_NANOS = 1_500_000;

  /** What to add to System.nanoTime to get nanoseconds since the epoch. */
  private static final long EPOCH = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now()) - System.nanoTime();

  private Probe() {}

  static long now() {
    return System.nanoTime() + EPOCH;
  }

  static void spinUntil(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.onSpinWait();
    }
  }

  /** Waits until the thread is in the state, and then for as long as the state needs to settle. */
  static void spinUntil(Thread thread, Thread.State state) {
    spinUntil(() -> thread.getState() == state);
    settle();
  }

  static void settle() {
    long end = System.nanoTime() + SETTLE_NANOS;
    spinUntil(() -> System.nanoTime() >= end);
  }

  static Thread started(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.start();
    return thread;
  }

  static int argument(String[] args, int otherwise) {
    return args.length > 0 ? Integer.parseInt(args[0]) : otherwise;
  }

  /** Returns the ids as JSON. */
  @SuppressWarnings("deprecation") // threadId is newer than the oldest JDK that these programs are for
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
