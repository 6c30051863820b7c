// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Makes threads wait in every way and prints the counts of ThreadMXBean for each.
 *
 * <p>Two clocks never agree about the start of a wait. So each thread also prints bounds of its times: a wait is at most as long as the
 * call that waits, and at least as long as the time between another thread seeing it and ending it.
 */
public final class Counters {
  private static final long SHORT_MILLIS = 4;
  private static final long LONG_MILLIS = 40;
  private static final long HOLD_NANOS = 2_000_000;

  private final int rounds;
  private final List<Actor> actors = new ArrayList<>();

  private static final class Till {
    volatile int round;
    final AtomicInteger served = new AtomicInteger();
  }

  private static final class Bell {
    int rung;
    final AtomicInteger heard = new AtomicInteger();
  }

  private static final class Timer {
    volatile int round;
    volatile int back;
    volatile int over;
  }

  private Counters(int rounds) {
    this.rounds = rounds;
  }

  public static void main(String[] args) {
    ManagementFactory.getThreadMXBean().setThreadContentionMonitoringEnabled(true);
    Probe.register();
    new Counters(2).run(); // loads all classes, since class loading may make threads wait, too
    Counters measured = new Counters(Probe.argument(args, 20));
    measured.run();
    List<String> counters = new ArrayList<>();
    for (Actor actor : measured.actors) {
      counters.add(actor.json());
    }
    System.out.println("{\"threads\":[" + String.join(",", counters) + "]}");
  }

  /** Runs the groups of threads one after the other, so that no thread waits long for a processor. */
  private void run() {
    contend(3);
    ring(1);
    ring(3);
    timeOut();
    interrupt();
    alone("sleeper", this::sleep);
    alone("parker", this::park);
    joins();
  }

  private Actor actor(String name, Actor.Work work) {
    Actor actor = new Actor(name, work);
    actors.add(actor);
    return actor;
  }

  /** Starts threads and ends them one by one, since threads that end at the same time block each other. Joins none of them. */
  private static void play(List<Actor> group) {
    for (Actor actor : group) {
      actor.thread.start();
    }
    for (Actor actor : group) {
      Probe.until(() -> actor.counters != null);
    }
    for (Actor actor : group) {
      actor.mayLeave = true;
      Probe.until(() -> actor.thread.getState() == Thread.State.TERMINATED);
    }
  }

  private void alone(String name, Actor.Work work) {
    play(List.of(actor(name, work)));
  }

  private static long hold() {
    long end = System.nanoTime() + HOLD_NANOS;
    Probe.until(() -> System.nanoTime() >= end);
    return System.nanoTime();
  }

  /** In each round all buyers are blocked on the cashier's monitor. */
  private void contend(int size) {
    Till till = new Till();
    List<Actor> buyers = new ArrayList<>();
    for (int i = 1; i <= size; i++) {
      buyers.add(actor("buyer-" + i, self -> buy(self, till)));
    }
    List<Actor> group = new ArrayList<>(buyers);
    group.add(actor("cashier", self -> sell(till, buyers)));
    play(group);
  }

  private void buy(Actor self, Till till) {
    for (int i = 1; i <= rounds; i++) {
      int round = i;
      Probe.until(() -> till.round == round);
      long before = System.nanoTime();
      long after;
      synchronized (till) {
        after = System.nanoTime();
      }
      self.blockedMost.addAndGet(after - before);
      till.served.incrementAndGet();
    }
  }

  private void sell(Till till, List<Actor> buyers) {
    for (int i = 1; i <= rounds; i++) {
      int served = i * buyers.size();
      synchronized (till) {
        till.round = i;
        for (Actor buyer : buyers) {
          Blocked.await(till, buyer.thread);
          buyer.blockedLeast.addAndGet(-System.nanoTime());
        }
        long released = hold();
        for (Actor buyer : buyers) {
          buyer.blockedLeast.addAndGet(released);
        }
      }
      Probe.until(() -> till.served.get() == served);
    }
  }

  /** In each round all listeners wait, and block after the notify, since the ringer keeps the monitor for a while. */
  private void ring(int size) {
    Bell bell = new Bell();
    List<Actor> listeners = new ArrayList<>();
    for (int i = 1; i <= size; i++) {
      listeners.add(actor("listener-" + i + "-of-" + size, self -> listen(self, bell, size)));
    }
    List<Actor> group = new ArrayList<>(listeners);
    group.add(actor("ringer-of-" + size, self -> ring(bell, listeners)));
    play(group);
  }

  private void listen(Actor self, Bell bell, int size) throws InterruptedException {
    for (int i = 1; i <= rounds; i++) {
      int heard = i * size;
      long outside = System.nanoTime();
      synchronized (bell) {
        self.blockedMost.addAndGet(System.nanoTime() - outside); // another listener may be about to wait
        while (bell.rung < i) {
          long before = System.nanoTime();
          bell.wait();
          long after = System.nanoTime();
          self.waitedMost.addAndGet(after - before);
          self.blockedMost.addAndGet(after);
        }
      }
      bell.heard.incrementAndGet();
      Probe.until(() -> bell.heard.get() >= heard);
    }
  }

  private void ring(Bell bell, List<Actor> listeners) {
    for (int i = 1; i <= rounds; i++) {
      int heard = i * listeners.size();
      for (Actor listener : listeners) {
        listener.waitedLeast.addAndGet(-listener.waiting());
      }
      synchronized (bell) {
        bell.rung = i;
        long before = System.nanoTime();
        if (listeners.size() == 1) {
          bell.notify();
        } else {
          bell.notifyAll();
        }
        long after = System.nanoTime();
        long released = hold();
        for (Actor listener : listeners) {
          listener.blockedMost.addAndGet(-before);
          listener.blockedLeast.addAndGet(released - after);
          listener.waitedLeast.addAndGet(released);
        }
      }
      Probe.until(() -> bell.heard.get() == heard);
    }
  }

  /** Waits that time out: first with a free monitor, then with one that the squatter owns. */
  private void timeOut() {
    Timer timer = new Timer();
    Actor patient = actor("patient", self -> timeOut(self, timer));
    play(List.of(patient, actor("squatter", self -> squat(timer, patient))));
  }

  private void timeOut(Actor self, Timer timer) throws InterruptedException {
    for (int i = 0; i < rounds; i++) {
      synchronized (timer) {
        long before = System.nanoTime();
        timer.wait(SHORT_MILLIS);
        self.waited(SHORT_MILLIS * 1_000_000, System.nanoTime() - before);
      }
    }
    for (int i = 1; i <= rounds; i++) {
      int round = i;
      synchronized (timer) {
        timer.round = i;
        long before = System.nanoTime();
        timer.wait(LONG_MILLIS);
        long took = System.nanoTime() - before;
        self.waitedMost.addAndGet(took);
        self.blockedMost.addAndGet(took - LONG_MILLIS * 1_000_000);
      }
      timer.back = i;
      Probe.until(() -> timer.over == round);
    }
  }

  private void squat(Timer timer, Actor patient) {
    for (int i = 1; i <= rounds; i++) {
      int round = i;
      Probe.until(() -> timer.round == round);
      Probe.until(() -> Blocked.waits(patient.thread) || timer.back == round);
      long waiting = System.nanoTime();
      synchronized (timer) {
        Probe.until(() -> Blocked.is(timer, patient.thread) || timer.back == round);
        long blocked = System.nanoTime();
        long released = hold();
        if (timer.back != round) { // otherwise the machine was too busy, and this was an ordinary wait
          patient.blockedLeast.addAndGet(released - blocked);
          patient.waitedLeast.addAndGet(released - waiting);
        }
      }
      timer.over = i;
    }
  }

  /** Waits and sleeps that are interrupted. */
  private void interrupt() {
    Object lock = new Object();
    AtomicInteger round = new AtomicInteger();
    Actor interrupted =
        actor(
            "interrupted",
            self -> {
              for (int i = 1; i <= 2 * rounds; i++) {
                round.set(i);
                beInterrupted(self, lock, i <= rounds);
              }
            });
    Actor interrupter =
        actor(
            "interrupter",
            self -> {
              for (int i = 1; i <= 2 * rounds; i++) {
                int number = i;
                Probe.until(() -> round.get() == number);
                long seen = i <= rounds ? interrupted.waiting() : interrupted.sleeping();
                interrupted.waitedLeast.addAndGet(hold() - seen);
                interrupted.thread.interrupt();
              }
            });
    play(List.of(interrupted, interrupter));
  }

  private static void beInterrupted(Actor self, Object lock, boolean waits) {
    long before = System.nanoTime();
    try {
      if (waits) {
        synchronized (lock) {
          lock.wait();
        }
      } else {
        Thread.sleep(3_600_000);
      }
      throw new IllegalStateException("not interrupted");
    } catch (InterruptedException e) {
      self.waitedMost.addAndGet(System.nanoTime() - before);
    }
  }

  private void sleep(Actor self) throws InterruptedException {
    for (int i = 0; i < rounds; i++) {
      long before = System.nanoTime();
      Thread.sleep(SHORT_MILLIS);
      self.waited(SHORT_MILLIS * 1_000_000, System.nanoTime() - before);
    }
  }

  /** Parks that time out, and parks that find a permit. */
  private void park(Actor self) {
    for (int i = 0; i < rounds; i++) {
      long before = System.nanoTime();
      LockSupport.parkNanos(SHORT_MILLIS * 1_000_000);
      LockSupport.unpark(self.thread);
      LockSupport.park();
      self.waitedMost.addAndGet(System.nanoTime() - before); // a park may return spuriously
    }
    self.parks = 2 * rounds;
  }

  /** Joins threads that end once they are being joined, each after a join that times out. */
  private void joins() {
    List<Actor> workers = new ArrayList<>();
    AtomicInteger next = new AtomicInteger(-1);
    Actor joiner = actor("joiner", self -> join(self, workers, next));
    for (int i = 0; i < rounds; i++) {
      int number = i;
      workers.add(actor("worker-" + i, self -> beJoined(self, joiner, () -> next.get() == number)));
    }
    play(List.of(joiner));
  }

  private static void beJoined(Actor self, Actor joiner, BooleanSupplier forGood) {
    Probe.until(forGood);
    joiner.waitedLeast.addAndGet(-joiner.waiting());
    long end = hold();
    joiner.waitedLeast.addAndGet(end);
    joiner.blockedMost.addAndGet(-end);
    self.mayLeave = true;
  }

  private static void join(Actor self, List<Actor> workers, AtomicInteger next) throws InterruptedException {
    for (Actor worker : workers) {
      worker.thread.start();
      long before = System.nanoTime();
      worker.thread.join(SHORT_MILLIS);
      next.incrementAndGet();
      worker.thread.join();
      long after = System.nanoTime();
      self.waited(SHORT_MILLIS * 1_000_000, after - before);
      self.blockedMost.addAndGet(after);
    }
  }
}
