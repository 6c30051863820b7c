// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Requests that wait for what other threads bring about, or never will: for tasks of a small pool, at a barrier for the last worker, to put into a
 * queue whose consumer has ended, at a latch that reaches no zero, for tasks in the queue of a pool whose workers all wait for such; for a lock
 * whose owner has ended, or whose owner waits for a task that needs it; for a read lock after a reader that wants to write; for the end of a thread;
 * for a notification by a thread that has ended; for a monitor whose owner collects garbage, or reads from a socket. It prints for how long they
 * waited, as they measured it themselves, for how long the JVM collected, and for how long the owner read.
 */
public final class Causes {
  private static final AtomicLong WAITED = new AtomicLong();
  private static final AtomicLong READ = new AtomicLong();
  private static final BlockingQueue<Integer> JOBS = new ArrayBlockingQueue<>(2);
  private static final CountDownLatch READY = new CountDownLatch(1);
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final ReentrantReadWriteLock READ_WRITE = new ReentrantReadWriteLock();
  private static final Object MAILBOX = new Object();
  private static final Object[] HEAP = new Object[1 << 20];
  private static final int LENGTH = 300; // ms

  private Causes() {}

  public static void main(String[] args) throws Exception {
    List<Thread> ending = new ArrayList<>();
    List<Thread> waiting = new ArrayList<>();
    switch (args[0]) {
      case "future":
        ExecutorService pool = Executors.newFixedThreadPool(2, named("mailer"));
        for (int i = 1; i <= 6; i++) {
          ending.add(request(i, () -> timed(() -> pool.submit(Causes::mail).get())));
        }
        break;
      case "barrier":
        CyclicBarrier barrier = new CyclicBarrier(3);
        ending.add(request(1, () -> timed(barrier::await)));
        ending.add(request(2, () -> timed(barrier::await)));
        ending.add(named("worker").newThread(sure(() -> late(barrier))));
        break;
      case "queue":
        ending.add(named("indexer").newThread(sure(JOBS::take)));
        for (int i = 1; i <= 5; i++) {
          waiting.add(request(i, () -> put(1)));
        }
        break;
      case "latch":
        for (int i = 1; i <= 2; i++) {
          waiting.add(request(i, Causes::ready));
        }
        break;
      case "starved":
        ExecutorService orders = Executors.newFixedThreadPool(2, named("order"));
        for (int i = 1; i <= 2; i++) {
          waiting.add(request(i, () -> orders.submit(() -> orders.submit(Causes::mail).get()).get()));
        }
        break;
      case "owner":
        start("importer", LOCK::lock).join();
        for (int i = 1; i <= 3; i++) {
          waiting.add(request(i, Causes::lock));
        }
        break;
      case "cycle":
        CountDownLatch locked = new CountDownLatch(1);
        ExecutorService pricer = Executors.newFixedThreadPool(1, named("pricer"));
        start("checkout", () -> price(pricer, locked));
        locked.await();
        for (int i = 1; i <= 2; i++) {
          waiting.add(request(i, Causes::lock));
        }
        break;
      case "upgrade":
        start("cart", Causes::upgrade);
        while (!READ_WRITE.hasQueuedThreads()) {
          Thread.onSpinWait();
        }
        for (int i = 1; i <= 3; i++) {
          waiting.add(request(i, Causes::read));
        }
        break;
      case "join":
        Thread exporter = start("exporter", () -> Thread.sleep(10 * LENGTH));
        for (int i = 1; i <= 2; i++) {
          waiting.add(request(i, () -> joined(exporter)));
        }
        break;
      case "notify":
        CountDownLatch listening = new CountDownLatch(2);
        for (int i = 1; i <= 2; i++) {
          request(i, () -> listen(listening)).start();
        }
        listening.await();
        start("dispatcher", Causes::dispatch).join();
        Thread.sleep(LENGTH);
        break;
      case "collection":
        for (int i = 0; i < HEAP.length; i++) {
          HEAP[i] = new byte[16];
        }
        CountDownLatch entered = new CountDownLatch(1);
        for (int i = 1; i <= 2; i++) {
          ending.add(request(i, () -> {
            entered.await();
            return timed(Causes::enter);
          }));
        }
        List<Thread> blocked = List.copyOf(ending);
        ending.add(named("compactor").newThread(sure(() -> compact(entered, blocked))));
        break;
      case "socket":
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        CountDownLatch held = new CountDownLatch(1);
        for (int i = 1; i <= 2; i++) {
          ending.add(request(i, () -> {
            held.await();
            return timed(Causes::enter);
          }));
        }
        List<Thread> clients = List.copyOf(ending);
        ending.add(named("database").newThread(sure(() -> answer(server, clients))));
        ending.add(named("refresher").newThread(sure(() -> refresh(server, held))));
        break;
      default:
        throw new IllegalArgumentException(args[0]);
    }
    ending.forEach(Thread::start);
    waiting.forEach(Thread::start);
    for (Thread thread : ending) {
      thread.join();
    }
    Thread.sleep(waiting.isEmpty() ? 0 : LENGTH);
    long collected = 0; // ms
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      collected += collector.getCollectionTime();
    }
    System.out.printf("{\"waited\":%d,\"collected\":%d,\"read\":%d}%n", WAITED.get(), collected * 1000000, READ.get());
    System.out.flush();
    System.exit(0);
  }

  private static Object mail() throws InterruptedException {
    Thread.sleep(40);
    return null;
  }

  private static Object late(CyclicBarrier barrier) throws Exception {
    Thread.sleep(LENGTH);
    return barrier.await();
  }

  private static Object put(int job) throws InterruptedException {
    JOBS.put(job);
    return null;
  }

  private static Object ready() throws InterruptedException {
    READY.await();
    return null;
  }

  private static Object lock() {
    LOCK.lock();
    LOCK.unlock();
    return null;
  }

  private static Object read() {
    READ_WRITE.readLock().lock();
    READ_WRITE.readLock().unlock();
    return null;
  }

  private static void upgrade() {
    READ_WRITE.readLock().lock();
    READ_WRITE.writeLock().lock();
  }

  private static void price(ExecutorService pricer, CountDownLatch locked) throws Exception {
    LOCK.lock();
    locked.countDown();
    pricer.submit(Causes::lock).get();
  }

  private static Object joined(Thread thread) throws InterruptedException {
    thread.join();
    return null;
  }

  private static Object listen(CountDownLatch listening) throws InterruptedException {
    synchronized (MAILBOX) {
      listening.countDown();
      while (true) {
        MAILBOX.wait();
      }
    }
  }

  private static void dispatch() {
    for (int i = 0; i < 20; i++) {
      synchronized (MAILBOX) {
        MAILBOX.notifyAll();
      }
    }
  }

  private static Object compact(CountDownLatch entered, List<Thread> blocked) {
    synchronized (MAILBOX) {
      entered.countDown();
      spinUntilBlocked(blocked);
      for (int i = 0; i < 5; i++) {
        System.gc();
      }
    }
    return null;
  }

  private static Object answer(ServerSocket server, List<Thread> clients) throws Exception {
    try (Socket client = server.accept()) {
      spinUntilBlocked(clients);
      Thread.sleep(LENGTH);
      client.getOutputStream().write(1);
    }
    return null;
  }

  private static Object refresh(ServerSocket server, CountDownLatch held) throws Exception {
    try (Socket database = new Socket(server.getInetAddress(), server.getLocalPort())) {
      synchronized (MAILBOX) {
        held.countDown();
        long began = System.nanoTime();
        int rate = database.getInputStream().read();
        READ.set(System.nanoTime() - began);
        return rate;
      }
    }
  }

  private static void spinUntilBlocked(List<Thread> threads) {
    while (!threads.stream().allMatch(thread -> thread.getState() == Thread.State.BLOCKED)) {
      Thread.onSpinWait();
    }
  }

  private static Object enter() {
    synchronized (MAILBOX) {
      return null;
    }
  }

  private interface Task {
    void run() throws Exception;
  }

  private static Thread start(String name, Task task) {
    Thread thread = new Thread(sure(() -> {
      task.run();
      return null;
    }), name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static Object timed(Callable<?> wait) throws Exception {
    long began = System.nanoTime();
    Object result = wait.call();
    WAITED.addAndGet(System.nanoTime() - began);
    return result;
  }

  private static Thread request(int number, Callable<?> work) {
    return new Thread(sure(work), "request-" + number);
  }

  private static ThreadFactory named(String pool) {
    AtomicInteger number = new AtomicInteger();
    return work -> {
      Thread thread = new Thread(work, pool + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  private static Runnable sure(Callable<?> work) {
    return () -> {
      try {
        work.call();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    };
  }
}
