// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads that contend for monitors whose owners the program knows.
 *
 * <p>held OWNER CONTENDERS LOCKS: a thread holds a lock until all contenders are blocked, then another one, LOCKS times. OWNER is platform,
 * mounted (a virtual thread that runs) or unmounted (one that parks). Prints the owner of each lock.
 *
 * <p>free THREADS TURNS LOCKS MICROS: threads take locks in turn. Each holds one for some time, half of them without a carrier. Prints who
 * held which lock, from when until when.
 */
public final class VirtualOwners {
  /** A lock and, in order, who held it. Guarded by itself. */
  private static final class Lock {
    final List<long[]> held = new ArrayList<>();
  }

  private static volatile boolean released;

  private VirtualOwners() {}

  public static void main(String[] args) throws InterruptedException {
    int[] numbers = new int[args.length];
    for (int i = args[0].equals("held") ? 2 : 1; i < args.length; i++) numbers[i] = Integer.parseInt(args[i]);
    if (args[0].equals("held")) {
      held(args[1], numbers[2], numbers[3]);
    } else {
      free(numbers[1], numbers[2], numbers[3], numbers[4]);
    }
  }

  private static void held(String kind, int contenders, int locks) throws InterruptedException {
    List<Thread> owners = new ArrayList<>();
    for (int i = 0; i < locks; i++) {
      Lock lock = new Lock();
      released = false;
      Thread owner =
          Kinds.started(
              !kind.equals("platform"),
              "owner",
              () -> {
                synchronized (lock) {
                  lock.held.add(new long[0]);
                  while (!released) {
                    if (kind.equals("unmounted")) LockSupport.park();
                    else Thread.onSpinWait();
                  }
                }
              });
      Probe.until(() -> holds(lock, owner, kind));
      List<Thread> others = new ArrayList<>();
      for (int k = 0; k < contenders; k++) {
        others.add(
            Kinds.started(
                true,
                "contender",
                () -> {
                  synchronized (lock) {
                    lock.held.add(new long[0]);
                  }
                }));
      }
      for (Thread other : others) Probe.until(() -> other.getState() == Thread.State.BLOCKED);
      released = true;
      LockSupport.unpark(owner);
      owner.join();
      Kinds.join(others);
      owners.add(owner);
    }
    System.out.printf("{\"owners\":%s,\"each\":%d}%n", Probe.ids(owners), contenders);
  }

  @SuppressWarnings("AccessGuardedByLock") // a size is enough
  private static boolean holds(Lock lock, Thread owner, String kind) {
    return lock.held.size() == 1 && (!kind.equals("unmounted") || owner.getState() == Thread.State.WAITING);
  }

  private static void free(int count, int turns, int locks, int micros) throws InterruptedException {
    List<Lock> all = new ArrayList<>();
    for (int i = 0; i < locks; i++) all.add(new Lock());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int number = i;
      threads.add(
          Kinds.thread(
              true,
              "thread",
              () -> {
                for (int turn = 0; turn < turns; turn++) take(all.get((number + turn) % locks), micros, (number + turn) % 2 == 0);
              }));
    }
    for (Thread thread : threads) thread.start();
    Kinds.join(threads);
    StringJoiner text = new StringJoiner(",", "{\"locks\":[", "]}");
    for (Lock lock : all) {
      StringJoiner holds = new StringJoiner(",", "{\"hash\":" + System.identityHashCode(lock) + ",\"holds\":[", "]}");
      for (long[] hold : lock.held) holds.add("[" + hold[0] + "," + hold[1] + "," + hold[2] + "]");
      text.add(holds.toString());
    }
    System.out.println(text);
  }

  private static void take(Lock lock, long micros, boolean away) {
    synchronized (lock) {
      long begin = Probe.now();
      if (away) {
        LockSupport.parkNanos(micros * 1000);
      } else {
        while (Probe.now() < begin + micros * 1000) Thread.onSpinWait();
      }
      lock.held.add(new long[] {Thread.currentThread().getId(), begin, Probe.now()});
    }
  }
}
