// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Threads take turns at a lock: the owner holds it until all others are seen waiting, and a little longer. Whoever gets it next holds it
 * longest, and is the cause of most of the wait of the last one. Which thread is next depends on the lock, so the turns record it.
 */
final class MatrixTurns {
  private static final int ROUNDS = 2;
  private static final int SHORT = 40; // milliseconds
  private static final int LONG = 160;

  interface Work {
    /** Takes the lock, calls {@link Turn#hold}, and releases the lock. */
    void run(Turn turn) throws Exception;
  }

  interface Sight {
    /** Returns when the thread waits for the lock, which the calling thread holds. */
    void await(Thread thread);
  }

  /** One thread's turn in one round; times are those of Probe.now. */
  final class Turn {
    private final Thread thread;
    private final boolean counts;
    private long wanted;
    private long seen; // waiting
    private long took;
    private long gives;
    private long gave;

    Turn(String role, Work work, boolean counts) {
      this.counts = counts;
      thread =
          Probe.thread(
              MatrixCase.unchecked(
                  () -> {
                    wanted = Probe.now();
                    work.run(this);
                    gave = Probe.now();
                  }),
              matrix.thread(role));
    }

    /** Is called while the lock is held. */
    void hold() {
      took = Probe.now();
      boolean first = order.isEmpty();
      order.add(this);
      if (first) {
        for (Turn next : waiting) {
          next.thread.start();
          sight.await(next.thread);
          next.seen = Probe.now();
        }
      }
      matrix.sleep(order.size() == 2 ? LONG : SHORT);
      gives = Probe.now();
    }
  }

  private final MatrixCase matrix;
  private final String cause;
  private final Sight sight;
  private final List<Turn> waiting = new ArrayList<>();
  private final List<Turn> order = Collections.synchronizedList(new ArrayList<>()); // in which they got the lock

  private MatrixTurns(MatrixCase matrix, String cause, Sight sight) {
    this.matrix = matrix;
    this.cause = cause;
    this.sight = sight;
  }

  /** All threads do the same. */
  static MatrixCase run(MatrixCase matrix, String cause, Sight sight, Work work) throws InterruptedException {
    return run(matrix, cause, sight, List.of(work, work, work), 1);
  }

  /** Each thread does its own work; the waits of those before an index do not count. The first one is the owner. */
  static MatrixCase run(MatrixCase matrix, String cause, Sight sight, List<Work> work, int counted) throws InterruptedException {
    for (int round = 1; round <= ROUNDS; round++) {
      MatrixTurns turns = new MatrixTurns(matrix, cause, sight);
      Turn owner = turns.new Turn("owner-" + round, work.get(0), false);
      for (int i = 1; i < work.size(); i++) {
        turns.waiting.add(turns.new Turn("waiter-" + i + "-" + round, work.get(i), i >= counted));
      }
      owner.thread.start();
      long ran = 0;
      for (int i = 0; i < work.size(); i++) {
        int turn = i;
        long from = Probe.now();
        Probe.until(() -> turns.order.size() > turn);
        ran += i == 0 ? 0 : Probe.now() - from;
        turns.order.get(i).thread.join(); // a join of a thread that has ended would leave no trace
      }
      turns.addSavings(ran);
      matrix.path(SHORT + LONG + (work.size() - 2) * SHORT);
      for (int i = 1; i < turns.order.size(); i++) {
        if (turns.order.get(i).counts) {
          matrix.add(turns.wait(i));
        }
      }
    }
    return matrix;
  }

  /**
   * Adds how much earlier the last turn would have ended if each had begun at once. What happens between two turns may be work of either
   * thread, hence the bounds. Between two turns, the caller ran for some time until the second began: its joins do not depend on that, so an
   * estimate keeps it.
   */
  private void addSavings(long ran) {
    Turn before = order.get(0); // it never waits
    long end = before.gives;
    long earliest = end;
    long latest = end;
    for (Turn turn : order.subList(1, order.size())) {
      end = turn.gives;
      earliest = Math.max(earliest, turn.wanted + turn.gives - turn.took);
      latest = Math.max(latest, turn.seen + turn.gives - before.gives);
      before = turn;
    }
    matrix.saves(end - latest - ran, end - earliest);
  }

  /** The wait of the turn at an index of the order, with the one that held the lock longest during it. */
  private MatrixCase.Wait wait(int index) {
    Turn waiter = order.get(index);
    Turn before = order.get(index - 1);
    long least = before.gives - waiter.seen;
    long most = waiter.took - waiter.wanted;
    MatrixCase.Wait wait =
        new MatrixCase.Wait(waiter.thread.getName(), waiter.wanted, waiter.took, least, cause, before.thread.getName());
    long longest = 0;
    for (int i = 0; i < index; i++) {
      Turn holder = order.get(i);
      long held = holder.gives - Math.max(holder.took, waiter.seen);
      long atMost = Math.min(holder.gave, waiter.took) - Math.max(i == 0 ? holder.wanted : order.get(i - 1).gives, waiter.wanted);
      if (held > longest) {
        longest = held;
        wait.heldBy(holder.thread, "MatrixCase.sleep", (double) held / most, (double) atMost / least);
      }
    }
    return wait;
  }
}
