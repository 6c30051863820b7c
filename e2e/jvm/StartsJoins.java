// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;

/** Starts K workers and joins each; a worker ends only when main is known to wait for it. */
public final class StartsJoins {
  private static volatile int joining = -1;

  private StartsJoins() {}

  public static void main(String[] args) throws InterruptedException {
    int workers = Probe.argument(args, 20);
    Thread main = Thread.currentThread();
    Probe.register();
    List<Thread> started = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      int number = i;
      started.add(Probe.thread(() -> work(number, main), "worker-" + number));
    }
    for (Thread worker : started) {
      worker.start();
    }
    for (int i = 0; i < workers; i++) {
      joining = i;
      started.get(i).join();
    }
    System.out.printf(
        "{\"starts\":%d,\"joins\":%d,\"main\":%s,\"workers\":%s}%n", workers, workers, Probe.id(main), Probe.ids(started));
  }

  private static void work(int number, Thread main) {
    while (joining != number) {
      Thread.yield(); // there are more workers than processors
    }
    Probe.until(main, Thread.State.WAITING);
  }
}
