// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package incident answers: Which episodes of contention happened, and what did each cost?
//
// An episode is the longest time in which threads waited for one lock, semaphore or pool without a break: from the first waiter until no
// thread waits. A wait for which no object is known belongs to an episode of its call site. Waits for a pool on
// an object of each waiter belong to an episode of the pool's class. Contended waits count, see
// jvmthread.Wait.Contended, and waits of virtual threads for a carrier of 10 ms or more: the carriers are like a pool, and the threads that keep
// one for as long are its holders.
//
// An incident is one or several episodes with one root:
//
//   - An episode is a consequence of another one if, for more than half of its length, the holder of its lock waited in that other episode.
//     (The holders of permits and pools overlap: there, it is more than half of their time.) The root is the episode at the end of this chain.
//     Of episodes that lead to each other, it is the first one.
//   - An episode in which a deadlocked thread waits belongs to the deadlock, with all its consequences.
//   - An incident that is not over at the end of a window continues in the incident to which the episode of its lock, or else the longest of
//     its episodes, belongs in the next window. It is named by the lock for which most time was
//     blocked while it was the root.
//
// An incident is reported when it is over, or cut: a deadlock in the window in which it is found, others after a minute, and what follows
// after ten minutes each. On the page, this is the same incident again, from its beginning (Options.Whole); a trace that was sent cannot change, so
// that the rest is a trace of its own, which names the one before. Each nanosecond of such a wait in a window belongs to one incident, reported or not: the contended time of a
// window, plus Starved, is the time of the incidents that it reports, plus Rest, plus what was added to Open.
package incident
