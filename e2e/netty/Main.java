// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.quotes;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Runs the server and its clients; the argument is the requests of each client. It prints how long the event loops waited for the prices. */
public final class Main {
  private static final int CLIENTS = 12;

  public static void main(String[] args) throws Exception {
    int requests = Integer.parseInt(args[0]);
    Prices prices = new Prices();
    AtomicLong asked = new AtomicLong(); // nanoseconds
    EventLoopGroup loops = new NioEventLoopGroup(2, new DefaultThreadFactory("client-io"));
    Thread feed = new Thread(() -> feed(prices), "price-feed");
    try (Server server = new Server(prices)) {
      List<Thread> threads = new ArrayList<>();
      for (int i = 1; i <= CLIENTS; i++) {
        Client client = new Client(loops, server.channel.localAddress());
        threads.add(new Thread(() -> asked.addAndGet(ask(client, requests)), "customer-" + i));
      }
      feed.start();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      feed.interrupt();
      feed.join();
    }
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
    System.out.printf("{\"waited\": %d, \"asked\": %d}%n", prices.waited(), asked.get());
  }

  private static void feed(Prices prices) {
    try {
      while (!Thread.interrupted()) {
        prices.load();
        Thread.sleep(2);
      }
    } catch (InterruptedException e) {
      return; // the end
    }
  }

  /** Returns how long the requests of a client took. */
  private static long ask(Client client, int requests) {
    long begun = System.nanoTime();
    try {
      for (int i = 0; i < requests; i++) {
        client.ask();
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return System.nanoTime() - begun;
  }
}
