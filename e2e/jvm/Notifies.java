// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/** Exactly M times notify wakes the only waiter, then one notifyAll wakes K waiters, in each case when they are known to wait. */
public final class Notifies {
  private static final int WAITERS = 5;

  private static final class Bell {
    int rung;
    volatile int heard;
  }

  private static final class Gong {
    boolean struck;
  }

  private Notifies() {}

  public static void main(String[] args) throws InterruptedException {
    int notifies = Probe.argument(args, 100);
    Bell bell = new Bell();
    Gong gong = new Gong();

    Thread listener = Probe.started(() -> listen(bell, notifies), "listener");
    Thread ringer = Probe.started(() -> ring(bell, notifies, listener), "ringer");
    listener.join();
    ringer.join();

    List<Thread> crowd = new ArrayList<>();
    for (int i = 0; i < WAITERS; i++) {
      crowd.add(Probe.started(() -> attend(gong), "crowd-" + i));
    }
    Thread striker = Probe.started(() -> strike(gong, crowd), "striker");
    for (Thread one : crowd) {
      one.join();
    }
    striker.join();
    System.out.printf(
        "{\"notifies\":%d,\"bell\":\"%s\",\"listener\":%s,\"ringer\":%s,\"woken\":%d,\"gong\":\"%s\",\"crowd\":%s,\"striker\":%s}%n",
        notifies, Bell.class.getName(), Probe.id(listener), Probe.id(ringer),
        WAITERS, Gong.class.getName(), Probe.ids(crowd), Probe.id(striker));
  }

  private static void listen(Bell bell, int times) {
    for (int i = 1; i <= times; i++) {
      synchronized (bell) {
        while (bell.rung < i) {
          await(bell);
        }
      }
      bell.heard = i;
    }
  }

  private static void ring(Bell bell, int times, Thread listener) {
    for (int i = 0; i < times; i++) {
      Probe.until(listener, Thread.State.WAITING);
      synchronized (bell) {
        bell.rung++;
        bell.notify();
      }
      int heard = i + 1; // only then is a WAITING the next one
      Probe.until(() -> bell.heard == heard);
    }
  }

  private static void attend(Gong gong) {
    synchronized (gong) {
      while (!gong.struck) {
        await(gong);
      }
    }
  }

  private static void strike(Gong gong, List<Thread> crowd) {
    for (Thread one : crowd) {
      Probe.until(one, Thread.State.WAITING);
    }
    synchronized (gong) {
      gong.struck = true;
      gong.notifyAll();
    }
  }

  private static void await(Object lock) {
    try {
      lock.wait();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
