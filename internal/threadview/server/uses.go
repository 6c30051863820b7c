// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/wording"
)

// add adds what a thread did in a part of the time in which others waited for it.
func (a activities) add(q *query, did part, piece *window.Piece) {
	iv := &piece.Interval
	k := activity{state: iv.State, wait: iv.Wait, function: q.sn.Site(store.StackID(iv.Stack)).Function}
	if iv.State != jvmthread.StateRunnable || q.isDumped() { // a dump shows the state at a moment
		a.sum(k, did.to-did.from, did.waited(), iv)
		return
	}
	for run, s := range q.runs(did, iv.Thread) {
		if k.run = wording.Run(run); s.length > 0 {
			a.sum(k, s.length, s.waited, iv)
		}
	}
}

func (a activities) sum(k activity, length, waited jvmthread.Time, iv *jvmthread.Interval) {
	s := a[k]
	if s == nil {
		s = &activitySum{longest: -1, run: k.run}
		a[k] = s
	}
	s.length += length
	if s.time += waited; waited > s.longest {
		s.longest, s.iv = waited, *iv
	}
}

// runSum is a part of the time in which a thread was runnable, and the sum of the waits of others in it.
type runSum struct{ length, waited jvmthread.Time }

func (s *runSum) add(length, waited jvmthread.Time) {
	s.length += length
	s.waited += waited
}

// runs divides a part of an interval in which a thread was runnable: it was on a processor, waited for one, or neither is known.
func (q *query) runs(did part, id jvmthread.ThreadID) (sums [wording.NumRuns]runSum) {
	q.sn.Usages(q.sn.Thread(id), did.from, did.to, func(from, to jvmthread.Time, u *jvmthread.Usage) {
		length, waited := to-from, did.waits.until(to)-did.waits.until(from)
		if u != nil {
			used := q.withoutPauses(*u)
			cpu, queue := used.Of(length)
			cpuWaited, queueWaited := used.Of(waited)
			sums[wording.RunOnCPU].add(cpu, cpuWaited)
			sums[wording.RunQueued].add(queue, queueWaited)
			length, waited = length-cpu-queue, waited-cpuWaited-queueWaited
		}
		sums[wording.RunUnseen].add(length, waited)
	})
	return sums
}

// withoutPauses takes pauses of the JVM out of the time to which a usage belongs, if all of them are in it.
func (q *query) withoutPauses(u jvmthread.Usage) jvmthread.Usage {
	if u.To-u.From != u.Runnable {
		return u
	}
	for p := range q.pauses(u.From, u.To) {
		if p.Wait == jvmthread.WaitPause {
			u.Runnable -= max(0, min(p.End, u.To)-max(p.Start, u.From))
		}
	}
	u.Runnable = max(u.Runnable, u.CPU+u.RunQueue)
	return u
}

// ran is what a runnable thread did for at least half of a time.
type ran struct {
	run    wording.Run
	paused bool // the JVM stood still
}

func (r ran) text(function string) string {
	if r.paused {
		return wording.Doing(jvmthread.StateParked, jvmthread.WaitPause, jvmthread.PauseClass, "")
	}
	return wording.Ran(r.run, function)
}

// ran finds what a runnable thread did in a time.
func (q *query) ran(thread int, from, to jvmthread.Time) ran {
	var sums [wording.NumRuns]jvmthread.Time
	var paused jvmthread.Time
	iv := jvmthread.Interval{State: jvmthread.StateRunnable, Start: from, End: to}
	for p := range window.Pieces(&iv, from, to, q.pauses(from, to)) {
		if p.Stopped {
			paused += p.End - p.Start
			continue
		}
		for run, s := range q.runs(part{from: p.Start, to: p.End}, q.sn.Threads[thread].ID) {
			sums[run] += s.length
		}
	}
	for run, sum := range sums {
		if 2*sum >= to-from {
			return ran{run: wording.Run(run)}
		}
	}
	return ran{paused: 2*paused >= to-from}
}

// text says what it is, given the longest interval of it.
func (s *activitySum) text(q *query, iv *store.Interval) string {
	if iv.State == jvmthread.StateRunnable && !q.isDumped() {
		return wording.Ran(s.run, q.sn.Site(iv.Stack).Function)
	}
	return q.activity(iv)
}
