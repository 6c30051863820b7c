// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// kind is a kind of wait, as the tables distinguish them.
type kind uint8

const (
	kindNone kind = iota
	kindBlocked
	kindWaited
	kindReenter
	kindParked
	kindJoined
	kindSleeping
	kindQueued
	kindSuspended
	numKinds
)

func kindWords() []string {
	return []string{"", "blocked", "waited", "reenter", "parked", "joined", "sleeping", "queued", "suspended"}
}

// kinds has room for any State, so that lookups need no bounds check.
var kinds = [256]kind{
	jvmthread.StateBlocked: kindBlocked, jvmthread.StateDeadlocked: kindBlocked, jvmthread.StateWaiting: kindWaited,
	jvmthread.StateReentering: kindReenter, jvmthread.StateParked: kindParked, jvmthread.StateJoining: kindJoined,
	jvmthread.StateSleeping: kindSleeping, jvmthread.StateQueued: kindQueued, jvmthread.StateSuspended: kindSuspended,
}

// kindOf is the kind of a state. A deadlocked thread counts as blocked.
func kindOf(s jvmthread.State) kind { return kinds[s] }

// sums visits everything that a table adds up over the range, each interval once: roll-ups where they have the sums, and intervals otherwise.
// Roll-ups are sums of all threads, so a table of some threads does without.
func (q *query) sums(sel selection, has func(*store.Rollup) bool, rollup func(*store.Rollup), intervals func(*store.Cursor)) {
	cover := q.cover(sel, has)
	for _, r := range cover.Rollups {
		rollup(r)
	}
	q.sn.Uncovered(q.from, q.to, &cover, sel.has, intervals)
}

// cover returns the roll-ups that can stand for intervals of the range.
func (q *query) cover(sel selection, has func(*store.Rollup) bool) store.Cover {
	if !sel.all || q.view.cfg.NoRollups {
		return store.Cover{}
	}
	return q.sn.Cover(q.from, q.to, has)
}

// share is what an interval adds to the sums of the range: the time within it, and 1 if it began within it. An early one subtracts what a
// roll-up counts before the range.
func (q *query) share(c *store.Cursor) (count, time int64) {
	switch {
	case c.Early:
		return -1, -int64(q.from - c.Start)
	case c.Start >= q.from:
		count = 1
	}
	return count, q.clip(c.Start, c.End)
}

// begun is the share of an interval in the number of waits: one that continues a wait is not counted.
func (q *query) begun(c *store.Cursor, count int64) int64 {
	if c.Marks.Has(jvmthread.MarkContinues) {
		return 0
	}
	return count
}

// waits is the sums of some waits.
type waits struct {
	store.Tally

	monitors, threads store.Set
	longest           store.Interval // without a number: none
}

func (t *waits) merge(o *waits) {
	t.Merge(&o.Tally)
	t.monitors.Merge(&o.monitors)
	t.threads.Merge(&o.threads)
	t.longer(&o.longest)
}

// longer keeps the longest interval. Among equals it keeps the earliest, then the one with the lowest thread index.
func (t *waits) longer(iv *store.Interval) {
	old := &t.longest
	if iv.Seq != 0 && (old.Seq == 0 ||
		cmp.Or(cmp.Compare(iv.Waited(), old.Waited()), cmp.Compare(old.Start, iv.Start), cmp.Compare(old.Thread, iv.Thread)) > 0) {
		*old = *iv
	}
}

// waits adds up the waits of some kinds over the range. of returns the sums to which those at a place belong; nil: to none.
func (q *query) waits(sel selection, wanted [numKinds]bool, of func(k kind, at place) *waits) {
	q.sums(sel, func(r *store.Rollup) bool { return r.Waits != nil }, func(r *store.Rollup) {
		for i := range r.Waits {
			w := &r.Waits[i]
			k := kindOf(w.State)
			if !wanted[k] {
				continue
			}
			if t := of(k, place{w.Class, w.Stack, w.Wait}); t != nil {
				t.Merge(&w.Tally)
				w.Locks.AddTo(&t.monitors)
				w.Threads.AddTo(&t.threads)
				if w.Seen > 0 && w.Max >= int64(t.longest.Waited()) {
					iv := w.Longest.Interval()
					t.longer(&iv)
				}
			}
		}
	}, func(c *store.Cursor) {
		for c.Next() {
			k := kindOf(c.As())
			if !wanted[k] {
				continue
			}
			lock := c.Lock()
			if t := of(k, place{q.sn.Locks[lock].Class, c.Stack(), c.Wait()}); t != nil {
				t.add(q, c, lock)
			}
		}
	})
}

// add adds a wait, or subtracts its part before the range if it is early. Of the parts of a wait, the last in the range has the length.
func (t *waits) add(q *query, c *store.Cursor, lock store.LockIndex) {
	count, time := q.share(c)
	count = q.begun(c, count)
	if c.Early {
		t.Part(count, time)
		return
	}
	length, measured := c.Waited(), true
	if c.Marks.Has(jvmthread.MarkWillContinue) {
		last := q.sn.Last(c.Interval())
		length, measured = last.Waited(), c.End >= q.to
	}
	if measured {
		t.Add(count, time, int64(length))
	} else {
		t.Part(count, time)
	}
	if lock != 0 {
		t.monitors.Add(int(lock))
	}
	t.threads.Add(c.Thread())
	if measured && length >= t.longest.Waited() {
		iv := q.sn.Last(c.Interval())
		t.longer(&iv)
	}
}

func statsOf(t *store.Tally) viewapi.Stats {
	s := viewapi.Stats{Count: t.Count, Time: t.Time, Seen: t.Seen}
	s.First, s.Buckets = t.Buckets()
	if t.Seen > 0 {
		s.Min, s.Max, s.Average = t.Min, t.Max, t.Sum/t.Seen
		s.P50, s.P95, s.P99 = t.Quantile(50), t.Quantile(95), t.Quantile(99)
	}
	return s
}
