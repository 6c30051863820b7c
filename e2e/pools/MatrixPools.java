// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** Waits for pools of libraries: Hikari's connections and the buffer of a Kafka producer. The output is that of Matrix. */
public final class MatrixPools {
  private static final String HIKARI = "com.zaxxer.hikari.pool.HikariPool.getConnection|com.zaxxer.hikari.HikariDataSource.getConnection";
  private static final String KAFKA = "org.apache.kafka.clients.producer.internals.BufferPool.allocate";
  private static final int BUFFER = 16;
  private static final long PATIENCE = 600_000; // milliseconds

  private final HikariDataSource connections;
  private final BufferPool buffer = new BufferPool(BUFFER, BUFFER, new Metrics(), Time.SYSTEM, "matrix");

  private MatrixPools(int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl("jdbc:h2:mem:matrix");
    config.setMaximumPoolSize(size);
    config.setConnectionTimeout(PATIENCE);
    connections = new HikariDataSource(config);
    Probe.until(() -> connections.getHikariPoolMXBean().getIdleConnections() == size); // else threads wait for a new connection
  }

  public static void main(String[] args) throws Exception {
    all(true);
    MatrixCase.block();
    System.out.println("[" + String.join(",", all(false)) + "]");
  }

  private static List<String> all(boolean rehearsal) throws Exception {
    List<String> lines = new ArrayList<>();
    MatrixPools one = new MatrixPools(1);
    lines.add(one.connection(new MatrixCase("hikari-one", rehearsal)).json());
    lines.add(one.buffer(new MatrixCase("kafka-buffer", rehearsal)).json());
    one.connections.close();
    MatrixPools four = new MatrixPools(4);
    lines.add(four.sharedConnections(new MatrixCase("hikari", rehearsal)).json());
    four.connections.close();
    return lines;
  }

  private static void parked(Thread thread) {
    Probe.until(thread, Thread.State.TIMED_WAITING);
  }

  private MatrixCase connection(MatrixCase matrix) throws InterruptedException {
    matrix.expect("pool", HIKARI, "MatrixPools.connect", "*");
    return MatrixTurns.run(matrix, "handoff|unpark", MatrixPools::parked, this::connect);
  }

  /** This thread has all other connections, and keeps them: it holds the pool as long as the holders of the last one. */
  private MatrixCase sharedConnections(MatrixCase matrix) throws Exception {
    try (Connection first = connections.getConnection();
        Connection second = connections.getConnection();
        Connection third = connections.getConnection()) {
      connection(matrix).alsoHeldBy(Thread.currentThread());
      if (first.isClosed() || second.isClosed() || third.isClosed()) {
        throw new IllegalStateException("a connection is closed");
      }
      return matrix;
    }
  }

  private void connect(MatrixTurns.Turn turn) throws Exception {
    try (Connection connection = connections.getConnection()) {
      turn.hold();
      if (connection.isClosed()) {
        throw new IllegalStateException("the connection is closed");
      }
    }
  }

  private MatrixCase buffer(MatrixCase matrix) throws InterruptedException {
    matrix.expect("pool", KAFKA, "MatrixPools.allocate", "*");
    return MatrixTurns.run(matrix, "handoff|unpark", MatrixPools::parked, this::allocate);
  }

  private void allocate(MatrixTurns.Turn turn) throws InterruptedException {
    ByteBuffer allocated = buffer.allocate(BUFFER, PATIENCE);
    turn.hold();
    buffer.deallocate(allocated);
  }
}
