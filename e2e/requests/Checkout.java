// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.sql.SQLException;
import javax.sql.DataSource;

/** What a request of the shop does, and a job that is in its way. */
final class Checkout {
  private static final int ROUNDS = 5;
  private static final int PAUSE = 250;

  private final Inventory inventory = new Inventory();
  private final Prices prices = new Prices();
  private final Orders orders;
  private final Thread job = new Thread(this::work, "restock");

  Checkout(DataSource database) throws SQLException {
    database.getConnection().close(); // fills the pool
    orders = new Orders(database);
  }

  String buy() throws SQLException, InterruptedException {
    Truth.Hold request = new Truth.Hold("request");
    request.acquired();
    inventory.take();
    int price = prices.price();
    orders.place();
    request.released();
    return price >= 0 ? "bought" : "free";
  }

  /**
   * Says that the server is ready, starts the job at the first line of input, and prints the truth at its end, after the job.
   */
  void serve() throws IOException, InterruptedException {
    System.out.println("ready");
    System.in.read();
    job.start();
    while (System.in.read() >= 0) {
      continue;
    }
    job.join();
    Truth.print(System.out);
  }

  /** Each round is a trace of its own, so a request can link to it; prices are reloaded outside of it. */
  private void work() {
    Tracer tracer = GlobalOpenTelemetry.getTracer("restock");
    try {
      for (int round = 0; round < ROUNDS; round++) {
        Span span = tracer.spanBuilder("restock").startSpan();
        try (Scope scope = span.makeCurrent()) {
          inventory.recount();
          orders.export();
        } finally {
          span.end();
        }
        prices.reload();
        Thread.sleep(PAUSE);
      }
    } catch (InterruptedException | SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
