// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/**
 * Contention whose owner the program knows, for locks that were never contended before: the JVM makes a monitor of each only then.
 */
public final class Owners {
  private static final class Lock {}

  private static volatile Lock offered;
  private static volatile Lock taken;
  private static volatile boolean over;

  private Owners() {}

  /** Arguments: one, many or churn; the number of contentions; threads that do something else. */
  public static void main(String[] args) throws InterruptedException {
    int count = Integer.parseInt(args[1]);
    List<Thread> bystanders = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[2]); i++) {
      bystanders.add(Probe.started(Owners::standBy, "bystander-" + i));
    }
    if (args[0].equals("one")) {
      one(count);
    } else {
      many(count, args[0].equals("churn") ? 1 : count / 8);
    }
    over = true;
    for (Thread bystander : bystanders) bystander.join();
  }

  /** Threads start and end all the time, and make garbage. */
  private static void standBy() {
    while (!over) {
      Thread child = Probe.started(() -> Probe.until(() -> new byte[10_000].length > 0), "child");
      try {
        child.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** All contend for one lock, which main owns. */
  private static void one(int count) throws InterruptedException {
    Lock lock = new Lock();
    List<Thread> contenders = new ArrayList<>();
    synchronized (lock) {
      for (int i = 0; i < count; i++) {
        contenders.add(
            Probe.started(
                () -> {
                  synchronized (lock) {
                    taken = lock;
                  }
                },
                "contender"));
      }
      for (Thread contender : contenders) Probe.until(contender, Thread.State.BLOCKED);
    }
    for (Thread contender : contenders) contender.join();
    System.out.printf("{\"owners\":[%s],\"each\":%d}%n", Probe.id(Thread.currentThread()), count);
  }

  /** One thread contends for a new lock each time. Its owners follow each other. */
  private static void many(int count, int each) throws InterruptedException {
    Thread contender = Probe.started(Owners::contend, "contender");
    List<Thread> owners = new ArrayList<>();
    for (int i = 0; i < count / each; i++) {
      Thread owner =
          Probe.started(
              () -> {
                for (int k = 0; k < each; k++) own(contender);
              },
              "owner");
      owner.join();
      owners.add(owner);
    }
    over = true;
    contender.join();
    System.out.printf("{\"owners\":%s,\"each\":%d}%n", Probe.ids(owners), each);
  }

  private static void own(Thread contender) {
    Lock lock = new Lock();
    synchronized (lock) {
      offered = lock;
      Probe.until(contender, Thread.State.BLOCKED);
    }
    Probe.until(() -> taken == lock);
  }

  private static void contend() {
    while (!over) {
      Probe.until(() -> offered != taken || over);
      Lock lock = offered;
      synchronized (lock) {
        taken = lock;
      }
    }
  }
}
