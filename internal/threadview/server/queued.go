// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// futureTask is a task that completes itself only: who waits for another one waits for another task.
const futureTask = "java.util.concurrent.FutureTask"

// maxSameTask bounds the threads that wait for one task of which it is seen that it is the same.
const maxSameTask = 64

// completion is a wake-up by a worker that completed a task.
type completion struct {
	at   jvmthread.Time
	seq  jvmthread.Seq   // of the worker's interval
	lock store.LockIndex // on which the other thread waited
}

// queued returns for which part of the waits that have ended their tasks had not begun, at least. A task begins after its worker has completed the
// one before, as far as another thread waited for that one; and it was not queued if its worker was idle meanwhile.
func (q *query) queued(list []endedWait) float64 {
	var queued, all jvmthread.Time
	done := map[int][]completion{} // by worker
	for i := range list {
		if w := &list[i]; w.completed() {
			all += w.to - w.from
			done[w.ender] = nil
		}
	}
	maps.DeleteFunc(done, func(thread int, _ []completion) bool { return !q.isPoolWorker(thread) })
	if len(done) == 0 {
		return 0
	}
	q.completions(done)
	for i := range list {
		w := &list[i]
		if !w.completed() || w.runner != 0 {
			continue
		}
		if began := q.began(done[w.ender], w); began > w.from && !q.idles(w.ender, w.from, w.cause) {
			queued += min(began, w.to) - w.from
		}
	}
	return float64(queued) / float64(max(all, 1))
}

// completed reports whether it is known when a thread completed the task of a wait.
func (w *endedWait) completed() bool { return w.ender != 0 && w.seq != 0 && !w.open }

// completions finds the tasks that some workers completed, in the order of time.
func (q *query) completions(done map[int][]completion) {
	q.sn.Edges(q.from, q.to+1, func(e store.Edge) bool {
		if _, ok := done[e.From]; ok && e.Kind == jvmthread.InteractionUnpark {
			if iv, known := q.sn.Numbered(e.To, e.ToSeq, e.Effect); known && iv.Wait == jvmthread.WaitFuture {
				done[e.From] = append(done[e.From], completion{e.Cause, e.FromSeq, iv.Lock})
			}
		}
		return true
	})
	for _, own := range done {
		slices.SortFunc(own, func(a, b completion) int { return cmp.Compare(a.at, b.at) })
	}
}

// began returns when the task of a wait began, at the earliest: when its worker completed another one. Threads that wait for one task are woken at
// once.
func (q *query) began(done []completion, w *endedWait) jvmthread.Time {
	at, _ := slices.BinarySearchFunc(done, w.cause, func(c completion, t jvmthread.Time) int { return cmp.Compare(c.at, t) })
	for _, c := range slices.Backward(done[max(0, at-maxSameTask):at]) {
		if c.seq != w.seq || c.lock != w.lock && strings.HasPrefix(q.sn.Class(c.lock), futureTask) {
			return c.at
		}
	}
	return 0
}

// isPoolWorker reports whether a thread runs tasks of an executor.
func (q *query) isPoolWorker(thread int) bool {
	for c := q.sn.Walk(thread, q.sn.From, q.sn.To); c.Next(); {
		if iv := c.Interval(); q.isWorker(&iv) {
			return true
		}
	}
	return false
}

// idles reports whether a thread was without a task within a time.
func (q *query) idles(thread int, from, to jvmthread.Time) bool {
	for c := q.sn.Walk(thread, from, to); c.Next(); {
		if c.Shown() == store.StateIdle {
			return true
		}
	}
	return false
}
