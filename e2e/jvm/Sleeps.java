// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

/** Sleeps exactly N times. */
public final class Sleeps {
  private Sleeps() {}

  public static void main(String[] args) throws InterruptedException {
    int sleeps = Probe.argument(args, 50);
    Thread sleeper = Probe.started(() -> sleep(sleeps), "sleeper");
    sleeper.join();
    System.out.printf("{\"sleeps\":%d,\"millis\":4,\"sleeper\":%s}%n", sleeps, Probe.id(sleeper));
  }

  private static void sleep(int times) {
    try {
      for (int i = 0; i < times; i++) {
        Thread.sleep(4);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
