// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

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
    private long joined;

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

  // In which they got the lock. The main thread polls it: with a monitor, a turn could wait for that thread, and not begin before it.
  private final List<Turn> order = new CopyOnWriteArrayList<>();

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
      long began = 0; // the first join
      long depended = 0; // of the path: a caller that gets a processor late has run meanwhile
      for (int i = 0; i < work.size(); i++) {
        int turn = i;
        long from = Probe.now();
        Probe.until(() -> turns.order.size() > turn);
        long joins = Probe.now();
        began = i == 0 ? joins : began;
        ran += i == 0 ? 0 : joins - from;
        turns.order.get(i).thread.join(); // a join of a thread that has ended would leave no trace
        turns.order.get(i).joined = Probe.now();
        ran += i == work.size() - 1 ? 0 : turns.order.get(i).joined - turns.order.get(i).gave;
        depended += Math.max(0, turns.order.get(i).gives - joins);
      }
      turns.addSavings(began, ran);
      matrix.path((int) TimeUnit.NANOSECONDS.toMillis(depended));
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
   * thread, hence the bounds. An estimate keeps what the caller does: it may join late, it runs until the next turn begins, and it wakes up
   * from each join. It also keeps what a thread does after its turn, which the next turns hid; the longest turn may hide that of the last.
   */
  private void addSavings(long began, long ran) {
    Turn before = order.get(0); // it never waits
    long end = before.gives;
    long earliest = end;
    long latest = Math.max(end, began);
    for (Turn turn : order.subList(1, order.size())) {
      end = turn.gives;
      earliest = Math.max(earliest, turn.wanted + turn.gives - turn.took);
      latest = Math.max(latest, turn.seen + turn.joined - before.gives);
      before = turn;
    }
    matrix.saves(end - latest - ran, before.joined - earliest);
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
