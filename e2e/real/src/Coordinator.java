// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** ZooKeeper with its log on disk: clients create sequential nodes below one node. */
final class Coordinator {
  private static final int TICK_MILLIS = 60_000; // a session may last for 20 ticks, however slow the disk
  private static final int SESSION_MILLIS = 20 * TICK_MILLIS;

  private Coordinator() {}

  static long run(int operations) throws Exception {
    Path dir = Files.createTempDirectory("weft-zookeeper");
    ZooKeeperServer server = new ZooKeeperServer(dir.toFile(), dir.toFile(), TICK_MILLIS);
    NIOServerCnxnFactory connections = new NIOServerCnxnFactory();
    connections.configure(new InetSocketAddress("127.0.0.1", 0), 0);
    connections.startup(server);
    String address = "127.0.0.1:" + connections.getLocalPort();
    try (ZooKeeper first = connect(address)) {
      first.create("/orders", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
      Load.clients(
          me -> {
            try (ZooKeeper client = connect(address)) {
              for (int i = 0; i < operations; i++) {
                client.create("/orders/n", new byte[16], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
              }
              return operations;
            }
          });
      List<String> nodes = first.getChildren("/orders", false);
      return nodes.stream().sorted().mapToLong(name -> Long.parseLong(name.substring(1))).sum();
    } finally {
      connections.shutdown();
      delete(dir);
    }
  }

  private static ZooKeeper connect(String address) throws IOException, InterruptedException {
    CountDownLatch connected = new CountDownLatch(1);
    ZooKeeper client =
        new ZooKeeper(
            address,
            SESSION_MILLIS,
            event -> {
              if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
              }
            });
    connected.await();
    return client;
  }

  private static void delete(Path dir) throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
