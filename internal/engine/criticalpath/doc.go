// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package criticalpath answers: what made it take so long? It has a Graph of the intervals, interactions and holds of a window, and finds
// in it the chain of activities that a thread had to wait for.
//
// The bounded path of a thread over [lo, hi) says for each moment what the thread was doing or, while it stood still, what those it
// waited for were doing. The rules, moment by moment, for a thread in an interval:
//
//   - It runs, sleeps, is suspended, deadlocked or unknown: that is the path. A sleep that was interrupted is a wait.
//   - It is blocked, or reenters a monitor: the path goes on with the thread that holds the lock at that moment. Not with the one that
//     handed the lock over in the end: in a convoy that one explains its own turn only, and before its turn it did other things. A
//     holder that is not known leaves the block itself on the path, and the time from the last release on is the latency of the hand-over.
//   - It waits, joins or is parked: up to the cause of its wake-up the path goes on with the thread that woke it; from there on it is
//     wake-up latency. A time-out is a timer. Without a known cause before hi the wait stays on the path; only a join, which names
//     whom it waits for, goes on with that one. A park whose synchronizer has known holds is a block.
//   - It has not begun: up to the call of Thread.start the path goes on with the caller; from there on it is start-up latency.
//   - The same wait is met again: a cycle, which stays unexplained, as does what lies deeper than a limit.
//
// So a path tiles its window exactly and never leaves into other work for longer than its thread was stopped; what comes after hi
// changes nothing. The unbounded path instead starts at the end and goes backwards, for good, to whoever let the thread go on: the
// path of the program and not of a request.
//
// Retiming answers: what if a lock had not been contended? Each interval is rigid or elastic: a wait with a known cause shrinks when its
// cause comes earlier. Without the edges of one lock, and with the order in which all others were granted, every moment is moved to the
// earliest that what remains allows. How much earlier the end of a thread comes is the lock's drag. It assumes that there are CPUs enough
// and that the work stays the same. The bound is the time blocked on the lock along the chain of causes that led to the end, where
// blocks on this lock are passed over: the chain that is left takes the rest of the time, so drag can be no more. The time of a lock on
// the bounded path is no such bound: a holder that came late to another lock, since it had been blocked before anyone waited for it,
// delays the end by time that is on nobody's bounded path.
//
// What did not make anyone wait leaves no trace: a join of a thread that was dead already, a lock that was free. Where such a dependence
// is not in the input, a retimed thread does not keep it, and its gain can be too much.
//
// A wait is idle if no path asked for so far leads through it: nobody of interest waited for what its thread would do next. That is
// true of a pool thread with nothing to do, even if its tasks are waited for later, and it is told from the graph, not from stack texts.
// Whether a ping or a pong is the work and the other the pool cannot be told by a graph: the caller says so by asking for the
// paths of the threads that serve requests. Being blocked is never idle.
//
// Every walk is linear in the pieces it visits, needs no recursion, and ends for every input, however inconsistent.
package criticalpath
