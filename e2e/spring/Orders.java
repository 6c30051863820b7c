// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.shop;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Places orders, each in a transaction, which Spring begins before the method: it takes a connection from the pool. */
@Service
public class Orders {
  private static final int ACCOUNTS = 24;

  private final JdbcTemplate database;
  private final AtomicLong waited = new AtomicLong();

  Orders(JdbcTemplate database) {
    this.database = database;
    database.execute("CREATE TABLE account(id INT PRIMARY KEY, orders INT)");
    for (int id = 0; id < ACCOUNTS; id++) {
      database.update("INSERT INTO account VALUES(?, 0)", id);
    }
  }

  @Transactional
  public String place(int account, long called) {
    waited.addAndGet(System.nanoTime() - called);
    database.update("UPDATE account SET orders = orders + 1 WHERE id = ?", account);
    charge();
    return "placed";
  }

  /** Calls somebody else's service while it keeps the connection. */
  private static void charge() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  public long waited() {
    return waited.get();
  }
}
