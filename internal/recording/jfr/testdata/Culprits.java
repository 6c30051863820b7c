// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import jdk.jfr.Recording;

/**
 * Records threads of which most have no event of their own: a hog that holds a lock, a notifier and a starter spin instead of waiting, as
 * they started before the recording and end after it. Prints who they are, and the longest time from when one of them got the lock until
 * another did. Arguments: FILE ROUNDS.
 */
public final class Culprits {
  private static final class Book {}

  private static final class Bell {}

  private static final String[] EVENTS = {
    "JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "ThreadSleep", "ThreadStart", "ThreadEnd", "JavaMonitorNotify",
  };
  private static final long HOLD = 60_000_000; // ns

  private static final Book book = new Book();
  private static final Bell bell = new Bell();
  private static volatile int round; // the round that the threads may begin
  private static volatile int held; // the round in which the hog has got the lock
  private static volatile int reheld; // the round in which the first victim has got it again
  private static volatile int first; // rounds that the first victim has passed
  private static volatile int second;
  private static volatile int waiting; // the round in which the waiter is about to wait
  private static volatile int woken;
  private static volatile int started;
  private static volatile int parks;
  private static volatile boolean over;
  private static volatile Thread victim;
  private static volatile Thread rival;
  private static volatile long since; // ns; when the owner of the book got it
  private static volatile long longest; // ns; from then until another thread got it

  private Culprits() {}

  public static void main(String[] args) throws Exception {
    int rounds = Integer.parseInt(args[1]);
    Thread hog = start(() -> hog(rounds), "hog");
    Thread notifier = start(() -> notifier(rounds), "notifier");
    Thread starter = start(() -> starter(rounds), "starter");
    victim = start(() -> first(rounds), "victim");
    rival = start(() -> second(rounds), "rival");
    start(() -> waiter(rounds), "waiter");
    Thread parked = start(Culprits::parked, "parked");
    try (Recording recording = new Recording()) {
      for (String event : EVENTS) {
        recording.enable("jdk." + event).withThreshold(Duration.ofMillis(10)).withStackTrace();
      }
      recording.enable("jdk.JVMInformation");
      recording.start();
      unpark(parked); // this park began before the recording
      unpark(parked);
      for (int i = 1; i <= rounds; i++) {
        round = i;
        int now = i;
        until(() -> first == now && second == now && woken == now && started == now);
        Thread.sleep(200); // nobody waits for the book
        timed();
      }
      recording.stop();
      recording.dump(Path.of(args[0]));
    }
    over = true;
    LockSupport.unpark(parked);
    System.out.printf(
        "{\"main\":%d,\"hog\":%d,\"notifier\":%d,\"starter\":%d,\"victim\":%d,\"parked\":%d,\"longest\":%d}%n",
        Thread.currentThread().getId(), hog.getId(), notifier.getId(), starter.getId(), victim.getId(), parked.getId(), longest);
  }

  private static Thread start(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.start();
    return thread;
  }

  /** Unparks a thread that has parked for longer than the threshold, and waits until it parks again. */
  private static void unpark(Thread thread) throws InterruptedException {
    until(() -> thread.getState() == Thread.State.WAITING);
    Thread.sleep(30);
    int before = parks;
    LockSupport.unpark(thread);
    until(() -> parks > before && thread.getState() == Thread.State.WAITING);
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.yield();
    }
  }

  /** Called by the owner of the book: holds it until another thread has been blocked for some time. */
  private static void hold(Thread other) {
    until(() -> other.getState() == Thread.State.BLOCKED);
    spin();
  }

  /** Called by the thread that got the book from the one that held it. */
  private static void got() {
    longest = Math.max(longest, System.nanoTime() - since);
  }

  private static void spin() {
    long begin = System.nanoTime();
    until(() -> System.nanoTime() - begin >= HOLD);
  }

  private static void hog(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> round == now);
      synchronized (book) {
        since = System.nanoTime();
        held = now;
        hold(victim);
      }
    }
    until(() -> over);
  }

  /** Waits for the hog and, after a while without a wait, takes the book again, for which the rival then waits. */
  private static void first(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> held == now);
      synchronized (book) {
        got();
      }
      spin();
      spin();
      spin();
      synchronized (book) {
        since = System.nanoTime();
        reheld = now;
        hold(rival);
      }
      first = now;
    }
    until(() -> over);
  }

  private static void second(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> reheld == now);
      synchronized (book) {
        got();
      }
      second = now;
    }
    until(() -> over);
  }

  private static void notifier(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> waiting == now);
      spin();
      synchronized (bell) {
        bell.notifyAll();
      }
      until(() -> woken == now);
    }
    until(() -> over);
  }

  private static void waiter(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> round == now);
      synchronized (bell) {
        waiting = now;
        try {
          bell.wait();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      woken = now;
    }
    until(() -> over);
  }

  private static void starter(int rounds) {
    for (int i = 1; i <= rounds; i++) {
      int now = i;
      until(() -> round == now);
      Thread child = start(() -> {}, "child-" + i);
      until(() -> child.getState() == Thread.State.TERMINATED);
      started = now;
    }
    until(() -> over);
  }

  /** Parks until each kind of timeout. */
  private static void timed() throws InterruptedException {
    LockSupport.parkNanos(book, HOLD);
    LockSupport.parkUntil(book, System.currentTimeMillis() + HOLD / 1_000_000);
    new ArrayBlockingQueue<Book>(1).poll(HOLD, TimeUnit.NANOSECONDS);
  }

  private static void parked() {
    while (!over) {
      LockSupport.park(bell);
      parks++;
    }
  }
}
