// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Interrupts a thread N times while it waits, N times while it sleeps. */
public final class Interrupts {
  private static final class Bed {}

  private static volatile int seen;

  private Interrupts() {}

  public static void main(String[] args) throws InterruptedException {
    int times = Probe.argument(args, 20);
    Bed bed = new Bed();
    Thread sleeper = Probe.started(() -> rest(bed, times), "interrupted");
    Thread waker = Probe.started(() -> disturb(sleeper, times), "interrupter");
    sleeper.join();
    waker.join();
    System.out.printf(
        "{\"waits\":%d,\"sleeps\":%d,\"lock\":\"%s\",\"interrupted\":%s,\"interrupter\":%s}%n",
        times, times, Bed.class.getName(), Probe.id(sleeper), Probe.id(waker));
  }

  private static void rest(Bed bed, int times) {
    for (int i = 0; i < 2 * times; i++) {
      try {
        if (i < times) {
          synchronized (bed) {
            bed.wait();
          }
        } else {
          Thread.sleep(3_600_000);
        }
        throw new IllegalStateException("woke up without an interrupt");
      } catch (InterruptedException e) {
        seen = i + 1;
      }
    }
  }

  private static void disturb(Thread sleeper, int times) {
    for (int i = 0; i < 2 * times; i++) {
      int round = i;
      Probe.until(() -> seen == round);
      if (i < times) {
        Blocked.awaitWait(sleeper);
      } else {
        Probe.until(sleeper, Thread.State.TIMED_WAITING);
      }
      sleeper.interrupt();
    }
  }
}
