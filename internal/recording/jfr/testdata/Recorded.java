// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import jdk.jfr.Recording;

/**
 * Triggers each thread event of a flight recording a known number of times, over several chunks, and prints the counts. Arguments:
 * FILE ROUNDS CHUNKS. With a fourth argument, two threads additionally park and unpark each other that often, as load.
 */
public final class Recorded {
  private static final class Gate {
    volatile int passed;
  }

  private static final class Queue {
    boolean full;
    volatile int taken;
  }

  private static final String[] EVENTS = {
    "JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "ThreadSleep", "ThreadStart", "ThreadEnd", "JavaMonitorNotify",
    "VirtualThreadStart", "VirtualThreadEnd", "VirtualThreadPinned",
  };

  private static int sleeps;
  private static volatile int turn;

  private Recorded() {}

  public static void main(String[] args) throws Exception {
    int rounds = Integer.parseInt(args[1]);
    int chunks = Integer.parseInt(args[2]);
    long[] ids;
    try (Recording recording = new Recording()) {
      for (String event : EVENTS) {
        recording.enable("jdk." + event).withoutThreshold().withStackTrace();
      }
      recording.enable("jdk.JVMInformation");
      recording.enable("jdk.ActiveSetting");
      recording.disable("jdk.ThreadCPULoad");
      recording.start();
      if (args.length > 3) {
        load(Integer.parseInt(args[3]));
      }
      ids = run(rounds, chunks, recording, Path.of(args[0]));
      recording.stop();
      recording.dump(Path.of(args[0]));
    }
    System.out.printf(
        "{\"main\":%d,\"waiter\":%d,\"parker\":%d,\"sleeper\":%d,\"patient\":%d,\"rounds\":%d,\"mainSleeps\":%d}%n",
        Thread.currentThread().getId(), ids[0], ids[1], ids[2], ids[3], rounds * chunks, sleeps);
  }

  private static long[] run(int rounds, int chunks, Recording recording, Path file) throws Exception {
    Queue queue = new Queue();
    Gate gate = new Gate();
    Gate lock = new Gate();
    Gate forLong = new Gate();
    int all = rounds * chunks;
    Thread waiter = start(() -> await(queue, all), "waiter");
    Thread parker = start(() -> park(gate, all), "parker");
    Thread sleeper = start(() -> sleep(all), "sleeper");
    Thread patient = start(() -> awaitOnce(forLong), "patient");
    for (int chunk = 0; chunk < chunks; chunk++) {
      for (int i = 0; i < rounds; i++) {
        settle(waiter, Thread.State.WAITING);
        synchronized (queue) {
          queue.full = true;
          queue.notify();
        }
        int round = chunk * rounds + i + 1; // on a busy machine, a woken thread appears to wait for a long time
        until(() -> queue.taken == round);
        settle(parker, Thread.State.WAITING);
        LockSupport.unpark(parker);
        until(() -> gate.passed == round);
        Thread blocked;
        synchronized (lock) {
          blocked = start(() -> enter(lock), "blocked-" + chunk + "-" + i);
          settle(blocked, Thread.State.BLOCKED);
        }
        end(blocked);
      }
      settle(patient, Thread.State.WAITING);
      if (chunk + 1 < chunks) {
        Path copy = Files.createTempFile("recorded", ".jfr");
        recording.dump(copy); // starts a new chunk
        Files.delete(copy);
      }
    }
    synchronized (forLong) {
      forLong.notifyAll();
    }
    for (Thread thread : new Thread[] {waiter, parker, sleeper, patient}) {
      end(thread);
    }
    return new long[] {waiter.getId(), parker.getId(), sleeper.getId(), patient.getId()};
  }

  private static Thread start(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.start();
    return thread;
  }

  /** Waits until the thread is in the state, and then long enough for the JVM to start its event. */
  private static void settle(Thread thread, Thread.State state) throws InterruptedException {
    until(() -> thread.getState() == state);
    sleeps++;
    Thread.sleep(3);
  }

  /** Unlike join, this triggers no event. */
  private static void end(Thread thread) {
    until(() -> thread.getState() == Thread.State.TERMINATED);
  }

  private static void until(BooleanSupplier condition) {
    while (!condition.getAsBoolean()) {
      Thread.yield();
    }
  }

  private static void await(Queue queue, int times) {
    synchronized (queue) {
      for (int i = 0; i < times; i++) {
        while (!queue.full) {
          doWait(queue, 0);
        }
        queue.full = false;
        queue.taken = i + 1;
      }
      doWait(queue, 5);
    }
  }

  private static void awaitOnce(Object object) {
    synchronized (object) {
      doWait(object, 0);
    }
  }

  private static void doWait(Object object, long timeout) {
    try {
      object.wait(timeout);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void park(Gate gate, int times) {
    for (int i = 0; i < times; i++) {
      LockSupport.park(gate);
      gate.passed = i + 1;
    }
  }

  private static void sleep(int times) {
    try {
      for (int i = 0; i < times; i++) {
        Thread.sleep(2);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void enter(Gate lock) {
    synchronized (lock) {
      Thread.onSpinWait();
    }
  }

  private static void load(int times) throws InterruptedException {
    Thread[] threads = new Thread[2];
    for (int i = 0; i < threads.length; i++) {
      int me = i;
      threads[i] =
          new Thread(
              () -> {
                for (int n = me; n < times; n += 2) {
                  while (turn != n) {
                    LockSupport.parkNanos(threads, 1_000_000);
                  }
                  turn = n + 1;
                  LockSupport.unpark(threads[1 - me]);
                }
              },
              "load-" + i);
    }
    for (Thread thread : threads) {
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
