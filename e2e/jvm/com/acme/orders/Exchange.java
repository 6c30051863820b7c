// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.orders;

import java.util.ArrayList;
import java.util.List;

/**
 * A small stock exchange whose threads block each other: the sample of {@code make demo}.
 *
 * <p>Gateways take orders from clients and put them into a bounded queue; matchers take them from there and match them against one order
 * book, under one lock; a publisher waits for trades; settlement starts short-lived workers and joins them. Now and then
 * everything stops for a moment. A trace of the threads shows why: {@link Report} holds the lock of the book while it writes to a slow
 * disk.
 */
public final class Exchange {
  private static final int GATEWAYS = 4;
  private static final int MATCHERS = 3;

  private Exchange() {}

  /** Runs the exchange for the number of seconds in the argument, 10 by default. */
  public static void main(String[] args) throws InterruptedException {
    double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 10;
    Clock clock = new Clock((long) (seconds * 1e9));
    OrderQueue queue = new OrderQueue(12);
    OrderBook book = new OrderBook();

    List<Thread> gateways = new ArrayList<>();
    for (int i = 1; i <= GATEWAYS; i++) {
      gateways.add(started(new Gateway(i, queue, clock), "gateway-" + i));
    }
    List<Thread> matchers = new ArrayList<>();
    for (int i = 1; i <= MATCHERS; i++) {
      matchers.add(started(new Matcher(queue, book), "matcher-" + i));
    }
    Thread publisher = started(new MarketData(book.tape()), "market-data");
    Report report = new Report(book, clock);
    Thread reporter = started(report, "report");
    Settlement settlement = new Settlement(book, clock);
    Thread settler = started(settlement, "settlement");

    for (Thread gateway : gateways) {
      gateway.join();
    }
    queue.close();
    for (Thread matcher : matchers) {
      matcher.join();
    }
    reporter.join();
    settler.join();
    book.tape().close();
    publisher.join();
    System.out.printf(
        "exchange: %d orders, %d trades, %d reports, %d settled in %.1f s%n",
        book.orders(), book.tape().trades(), report.written(), settlement.settled(), clock.elapsed() / 1e9);
  }

  private static Thread started(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.start();
    return thread;
  }
}
