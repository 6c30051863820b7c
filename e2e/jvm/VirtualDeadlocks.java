// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Deadlocks of platform and virtual threads over monitors, locks of java.util.concurrent, and both. Prints the threads of each, and which of
 * all threads the JVM finds deadlocked. Ends by itself after a while.
 */
public final class VirtualDeadlocks {
  /** What a thread takes and does not give back. */
  private abstract static class Resource {
    volatile boolean held;

    abstract void take(Runnable then);
  }

  private static final class Monitor extends Resource {
    @Override
    synchronized void take(Runnable then) {
      held = true;
      then.run();
    }
  }

  private static final class Lock extends Resource {
    private final ReentrantLock lock = new ReentrantLock();

    @Override
    void take(Runnable then) {
      lock.lock();
      held = true;
      then.run();
    }
  }

  private VirtualDeadlocks() {}

  public static void main(String[] args) {
    StringJoiner text = new StringJoiner(",", "{\"cycles\":[", "]");
    List<Thread> all = new ArrayList<>();
    for (String resources : new String[] {"MM", "LL", "ML", "MLM"}) {
      for (String kinds : new String[] {"pp", "pv", "vp", "vv"}) {
        List<Thread> cycle = deadlock(resources, kinds);
        text.add("{\"name\":\"" + resources + " " + kinds + "\",\"threads\":" + Probe.ids(cycle) + "}");
        all.addAll(cycle);
      }
    }
    long end = System.nanoTime() + 2_500_000_000L; // a search waits a second before it believes that threads are stuck
    while (System.nanoTime() < end) LockSupport.parkNanos(end - System.nanoTime());
    long[] seen = ManagementFactory.getThreadMXBean().findDeadlockedThreads();
    System.out.println(text + ",\"seen\":" + Arrays.toString(seen) + "}");
    System.exit(0);
  }

  /** Each thread takes one resource and, when all are taken, wants the next one. */
  private static List<Thread> deadlock(String resources, String kinds) {
    List<Resource> ring = new ArrayList<>();
    for (char kind : resources.toCharArray()) ring.add(kind == 'M' ? new Monitor() : new Lock());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < ring.size(); i++) {
      Resource first = ring.get(i);
      Resource second = ring.get((i + 1) % ring.size());
      boolean virtual = kinds.charAt(i % 2) == 'v';
      threads.add(
          Kinds.started(
              virtual,
              resources + "-" + kinds + "-" + i,
              () ->
                  first.take(
                      () -> {
                        Probe.until(() -> ring.stream().allMatch(r -> r.held));
                        take(second);
                      })));
    }
    for (Thread thread : threads) {
      Probe.until(() -> thread.getState() == Thread.State.BLOCKED || thread.getState() == Thread.State.WAITING);
    }
    return threads;
  }

  private static void take(Resource resource) {
    resource.take(
        () -> {
          throw new IllegalStateException("no deadlock");
        });
  }
}
