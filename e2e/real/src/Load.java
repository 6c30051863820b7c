// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Puts a third-party program under load: a fixed number of operations by a fixed number of clients. The output is the same each time, so
 * that a run with an agent can be compared with one without, byte for byte.
 */
public final class Load {
  static final int CLIENTS = 8;

  /** A client's work; its result must be the same each time. */
  interface Client {
    long run(int number) throws Exception;
  }

  interface Program {
    long run(int operations) throws Exception;
  }

  private Load() {}

  public static void main(String[] args) throws Exception {
    Map<String, Program> programs =
        Map.of(
            "h2", operations -> Databases.run("jdbc:h2:mem:load;LOCK_TIMEOUT=3600000", operations),
            "derby", operations -> Databases.run("jdbc:derby:memory:load;create=true", operations),
            "jetty", WebServer::run,
            "activemq", Broker::run,
            "zookeeper", Coordinator::run);
    long result = programs.get(args[0]).run(Integer.parseInt(args[1]));
    System.out.println(args[0] + " " + result);
    System.exit((int) (result % 97)); // real programs also end this way
  }

  /** Runs all clients concurrently and adds up their results. */
  static long clients(Client client) throws Exception {
    AtomicInteger number = new AtomicInteger();
    ThreadFactory threads = task -> new Thread(task, "client-" + number.incrementAndGet());
    ExecutorService pool = Executors.newFixedThreadPool(CLIENTS, threads);
    List<Future<Long>> results = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int me = i;
      results.add(pool.submit(() -> client.run(me)));
    }
    long sum = 0;
    for (Future<Long> result : results) {
      sum += result.get();
    }
    pool.shutdown();
    return sum;
  }
}
