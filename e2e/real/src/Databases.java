// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Clients transfer money between few accounts of one table, in transactions. */
final class Databases {
  private static final int ACCOUNTS = 4;

  private Databases() {}

  static long run(String url, int operations) throws Exception {
    try (Connection keepsItOpen = DriverManager.getConnection(url)) {
      try (Statement statement = keepsItOpen.createStatement()) {
        statement.execute("CREATE TABLE account (id INT PRIMARY KEY, balance BIGINT NOT NULL, moves BIGINT NOT NULL)");
        for (int i = 0; i < ACCOUNTS; i++) {
          statement.execute("INSERT INTO account VALUES (" + i + ", 1000, 0)");
        }
      }
      long moves = Load.clients(me -> move(url, me, operations));
      try (Statement statement = keepsItOpen.createStatement();
          ResultSet sum = statement.executeQuery("SELECT SUM(balance), SUM(moves) FROM account")) {
        sum.next();
        if (sum.getLong(1) != 1000 * ACCOUNTS || sum.getLong(2) != 2 * moves) {
          throw new IllegalStateException("money was lost: " + sum.getLong(1) + " after " + sum.getLong(2) + " moves");
        }
        return sum.getLong(2);
      }
    }
  }

  private static long move(String url, int me, int operations) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        PreparedStatement update =
            connection.prepareStatement("UPDATE account SET balance = balance + ?, moves = moves + 1 WHERE id = ?")) {
      connection.setAutoCommit(false);
      for (int i = 0; i < operations; i++) {
        int low = (me + i) % (ACCOUNTS - 1); // always in the same order, so that no two transactions wait for each other
        update.setLong(1, -i);
        update.setInt(2, low);
        update.executeUpdate();
        update.setLong(1, i);
        update.setInt(2, low + 1);
        update.executeUpdate();
        connection.commit();
      }
      return operations;
    }
  }
}
