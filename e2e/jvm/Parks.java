// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * N times unpark wakes a thread that is known to be parked; N times unpark precedes the park, which then returns at once; N times a
 * ReentrantLock is handed over to a thread that is known to wait for it.
 */
public final class Parks {
  private static final class Gate {
    volatile int opened;
    volatile int passed;
  }

  private static final class Permit {
    volatile int given;
    volatile int taken;
  }

  private static final class Baton {
    final ReentrantLock lock = new ReentrantLock();
    volatile int held;
    volatile int passed;
  }

  private Parks() {}

  public static void main(String[] args) throws InterruptedException {
    int times = Probe.argument(args, 100);
    Gate gate = new Gate();
    Thread sleeper = Probe.started(() -> sleep(gate, times), "sleeper");
    Thread waker = Probe.started(() -> wake(gate, times, sleeper), "waker");
    sleeper.join();
    waker.join();

    Permit permit = new Permit();
    Thread taker = Probe.started(() -> take(permit, times), "taker");
    Thread giver = Probe.started(() -> give(permit, times, taker), "giver");
    taker.join();
    giver.join();

    Baton baton = new Baton();
    Thread follower = Probe.started(() -> follow(baton, times), "follower");
    Thread holder = Probe.started(() -> hold(baton, times, follower), "holder");
    follower.join();
    holder.join();
    System.out.printf(
        "{\"unparks\":%d,\"gate\":\"%s\",\"sleeper\":%s,\"waker\":%s,\"permit\":\"%s\",\"taker\":%s,\"giver\":%s,\"follower\":%s,\"holder\":%s}%n",
        times, Gate.class.getName(), Probe.id(sleeper), Probe.id(waker),
        Permit.class.getName(), Probe.id(taker), Probe.id(giver), Probe.id(follower), Probe.id(holder));
  }

  private static void sleep(Gate gate, int times) {
    for (int i = 1; i <= times; i++) {
      while (gate.opened < i) {
        LockSupport.park(gate);
      }
      gate.passed = i;
    }
  }

  private static void wake(Gate gate, int times, Thread sleeper) {
    for (int i = 1; i <= times; i++) {
      int now = i;
      Probe.until(sleeper, Thread.State.WAITING);
      gate.opened = now;
      LockSupport.unpark(sleeper);
      Probe.until(() -> gate.passed == now); // only then is a WAITING the next one
    }
  }

  private static void take(Permit permit, int times) {
    for (int i = 1; i <= times; i++) {
      int now = i;
      Probe.until(() -> permit.given == now);
      LockSupport.park(permit);
      permit.taken = now;
    }
  }

  private static void give(Permit permit, int times, Thread taker) {
    for (int i = 1; i <= times; i++) {
      int now = i;
      LockSupport.unpark(taker);
      permit.given = now;
      Probe.until(() -> permit.taken == now);
    }
  }

  private static void follow(Baton baton, int times) {
    for (int i = 1; i <= times; i++) {
      int now = i;
      Probe.until(() -> baton.held == now);
      baton.lock.lock();
      baton.lock.unlock();
      baton.passed = now;
    }
  }

  private static void hold(Baton baton, int times, Thread follower) {
    for (int i = 1; i <= times; i++) {
      int now = i;
      baton.lock.lock();
      baton.held = now;
      Probe.until(follower, Thread.State.WAITING);
      baton.lock.unlock();
      Probe.until(() -> baton.passed == now);
    }
  }
}
