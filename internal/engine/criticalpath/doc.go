// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package criticalpath explains why a thread took as long as it did. A Graph holds the intervals, interactions and holds of a window, and
// finds in them the chain of activities that a thread had to wait for.
//
// The bounded path of a thread over [lo, hi) states for each moment what the thread was doing or, while it was stopped, what the threads
// that it waited for were doing. The rules depend on what the current thread is doing:
//
//   - Running, sleeping, suspended, deadlocked or unknown: the interval itself is on the path. An interrupted sleep is treated as a wait.
//   - Blocked, or reentering a monitor: the path continues with the thread that holds the lock at that moment. It does not continue with
//     the thread that finally handed the lock over: in a convoy, that thread explains only its own turn, and did other things before. If
//     the holder is unknown, the block itself is on the path, and the time after the last release is handoff latency.
//   - Idle, such as a worker without a task: the wait itself is on the path up to the cause of its end, the rest is wake-up latency. Who
//     finally has a task for the thread did work of its own before.
//   - Waiting, joining or parked otherwise: up to the cause of the wake-up the path continues with the thread that caused it; the rest is wake-up
//     latency. A wait that timed out is a timer. A wait without a known cause before hi stays on the path; only a join, which names its
//     target, continues with that thread while it lives: once it has ended, the rest is wake-up latency. A park on a synchronizer with known
//     holds is treated as a block.
//   - Not started yet: up to the call of Thread.start the path continues with the caller; the rest is start-up latency.
//   - In a wait that is already part of the chain of waits: this is a cycle. It stays unexplained, as does anything deeper than the limit.
//
// A path therefore tiles its window exactly, and never follows other threads for longer than its own thread was stopped. Events after hi
// have no effect. The unbounded path instead starts at the end and walks backwards. From each wait it moves to the thread that ended the
// wait, and does not come back: it is the path of the program and not of one request.
//
// Retiming predicts what would have happened if a lock had not been contended. Each interval is rigid or elastic: a wait with a known cause
// shrinks if its cause comes earlier. Retiming removes the edges of one lock, keeps the order in which all other locks were granted, and
// moves every point to the earliest time that the remaining edges allow. The drag of the lock is how much earlier a thread then ends. This
// assumes that there are enough CPUs and that the work stays the same. The bound is the time blocked on the lock along the chain of causes
// that leads to the end, where the chain stays on a thread that is blocked on this lock: the rest of the chain takes the rest of the time,
// so drag never exceeds the bound. The time of a lock on the bounded path is not such a bound: a holder that was itself blocked before any
// thread waited for it reaches another lock late, and that delay is on no bounded path.
//
// Retiming costs a fixed number of passes over the points at which threads depend on each other. For many locks, most points do not matter: a
// point with more slack than the bound of a lock cannot change the drag of the lock.
//
// A dependency that made no thread wait leaves no trace, such as joining a dead thread or taking a free lock. Retiming does not preserve
// such a dependency, and can overestimate the gain.
//
// A wait is idle if no path computed so far leads through it: no thread of interest depended on what the waiting thread did next. This
// holds for a pool thread without work, even if other threads wait for its tasks later, and follows from the graph, not from stack traces.
// Of two threads that wait for each other in turn, the graph cannot decide which one does the work and which one is the pool: the caller
// decides by computing the paths of the threads that serve requests. A blocked thread is never idle.
//
// Every walk is linear in the pieces it visits, needs no recursion, and terminates for every input, however inconsistent.
package criticalpath
