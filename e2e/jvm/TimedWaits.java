// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Waits N times until the timeout and N times until a notify long before the timeout. */
public final class TimedWaits {
  private static final class Timer {
    int fired;
    volatile int seen;
  }

  private TimedWaits() {}

  public static void main(String[] args) throws InterruptedException {
    int times = Probe.argument(args, 40);
    Timer timer = new Timer();
    Thread waiter = Probe.started(() -> await(timer, times), "waiter");
    Thread firing = Probe.started(() -> fire(timer, times, waiter), "firing");
    waiter.join();
    firing.join();
    System.out.printf(
        "{\"timed_out\":%d,\"notified\":%d,\"lock\":\"%s\",\"waiter\":%s,\"firing\":%s}%n",
        times, times, Timer.class.getName(), Probe.id(waiter), Probe.id(firing));
  }

  private static void await(Timer timer, int times) {
    try {
      for (int i = 0; i < times; i++) {
        synchronized (timer) {
          timer.wait(4);
        }
      }
      timer.seen = 1;
      for (int i = 1; i <= times; i++) {
        synchronized (timer) {
          while (timer.fired < i) {
            timer.wait(3_600_000);
          }
        }
        timer.seen = i + 1;
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void fire(Timer timer, int times, Thread waiter) {
    for (int i = 1; i <= times; i++) {
      int round = i;
      Probe.until(() -> timer.seen == round);
      Probe.until(waiter, Thread.State.TIMED_WAITING);
      synchronized (timer) {
        timer.fired = i;
        timer.notify();
      }
    }
  }
}
