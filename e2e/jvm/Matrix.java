// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Waits in each way that the JDK offers, a known number of times and for a known time, and prints what it knows. */
public final class Matrix {
  interface Scenario {
    MatrixCase run(MatrixCase matrix) throws InterruptedException;
  }

  private Matrix() {}

  public static void main(String[] args) throws InterruptedException {
    for (Map.Entry<String, Scenario> scenario : scenarios().entrySet()) {
      scenario.getValue().run(new MatrixCase(scenario.getKey(), true));
    }
    MatrixCase.block();
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, Scenario> scenario : scenarios().entrySet()) {
      lines.add(scenario.getValue().run(new MatrixCase(scenario.getKey(), false)).json());
    }
    System.out.println("[" + String.join(",", lines) + "]");
  }

  private static Map<String, Scenario> scenarios() {
    MatrixLocks locks = new MatrixLocks();
    MatrixMeetings meetings = new MatrixMeetings();
    MatrixTransfers transfers = new MatrixTransfers();
    Map<String, Scenario> all = new LinkedHashMap<>();
    all.put("synchronized", locks::monitor);
    all.put("reentrant-lock", locks::lock);
    all.put("fair-lock", locks::fair);
    all.put("write-lock", locks::write);
    all.put("read-lock", locks::read);
    all.put("stamped-lock", locks::stamped);
    all.put("lock-timeout", locks::lockTimeout);
    all.put("lock-interrupted", locks::lockInterrupted);
    all.put("semaphore", locks::permit);
    all.put("semaphore-timeout", locks::permitTimeout);
    all.put("object-wait", meetings::object);
    all.put("condition", meetings::condition);
    all.put("condition-timeout", meetings::conditionTimeout);
    all.put("latch", meetings::latch);
    all.put("barrier", meetings::barrier);
    all.put("phaser", meetings::phaser);
    all.put("exchanger", meetings::exchanger);
    all.put("synchronous-queue", transfers::synchronousQueue);
    all.put("queue-take", transfers::take);
    all.put("queue-put", transfers::put);
    all.put("queue-timeout", transfers::pollTimeout);
    all.put("future", transfers::future);
    all.put("fork-join", transfers::forkJoin);
    all.put("managed-block", transfers::managedBlock);
    all.put("join", meetings::join);
    all.put("idle-worker", transfers::idle);
    all.put("park", meetings::park);
    all.put("sleep", meetings::sleep);
    return all;
  }
}
