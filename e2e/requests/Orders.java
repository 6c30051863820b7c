// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package com.acme.checkout;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/** Orders in a database, whose connections are pooled. */
final class Orders {
  private final DataSource database;

  Orders(DataSource database) {
    this.database = database;
  }

  void place() throws SQLException, InterruptedException {
    hold(1, Work.STATEMENT);
  }

  /** Takes several connections for long. */
  void export() throws SQLException, InterruptedException {
    hold(3, Work.LONG);
  }

  private void hold(int connections, int millis) throws SQLException, InterruptedException {
    Truth.Hold hold = new Truth.Hold("HikariPool");
    try (Connection connection = database.getConnection()) {
      hold.acquired();
      if (connections > 1) {
        hold(connections - 1, millis);
      } else {
        try (Statement statement = connection.createStatement()) {
          statement.execute("SELECT 1");
        }
        Work.last(millis);
      }
    }
    hold.released(); // the pool may hand the connection over long after a reading of the clock before its return
  }
}
