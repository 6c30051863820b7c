// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * VirtualParked N WEFT: N virtual threads wait for a lock that the main thread holds, and N sleep, before the agent records anything. Prints the
 * threads, when the agent had recorded for a while, and when the lock was released.
 */
public final class VirtualParked {
  private static final ReentrantLock lock = new ReentrantLock();

  private VirtualParked() {}

  private static void acquire() {
    lock.lock();
    lock.unlock();
  }

  private static void sleep() {
    try {
      Thread.sleep(86_400_000);
    } catch (InterruptedException expected) {
      // the end
    }
  }

  private static List<Thread> start(int count, Runnable body) throws ReflectiveOperationException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      threads.add((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body));
    }
    return threads;
  }

  public static void main(String[] args) throws IOException, InterruptedException, ReflectiveOperationException {
    int count = Integer.parseInt(args[0]);
    lock.lock();
    List<Thread> acquirers = start(count, VirtualParked::acquire);
    List<Thread> sleepers = start(count, VirtualParked::sleep);
    for (Thread thread : acquirers) Probe.until(() -> thread.getState() == Thread.State.WAITING);
    for (Thread thread : sleepers) Probe.until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    Attach.options(args[1], "pause=off");
    Thread.sleep(500); // the agent looks at all threads
    long from = Probe.now();
    Thread.sleep(100);
    long released = Probe.now();
    lock.unlock();
    for (Thread thread : sleepers) thread.interrupt();
    for (Thread thread : acquirers) thread.join();
    for (Thread thread : sleepers) thread.join();
    System.out.printf(
        "{\"owner\":%s,\"acquirers\":%s,\"sleepers\":%s,\"from\":%d,\"released\":%d}%n",
        Probe.id(Thread.currentThread()), Probe.ids(acquirers), Probe.ids(sleepers), from, released);
  }
}
