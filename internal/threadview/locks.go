// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/viewstore"
)

// lockTally is what is known of one lock over the range.
type lockTally struct {
	lock     viewstore.LockIndex
	states   [numKinds]viewapi.StateTime
	handoffs []viewstore.Edge // in the order of their effects
	holds    []viewstore.Hold // in the order of their starts, once tidied
	queue    []turn           // threads that begin and cease to be blocked
	holders  set
}

// turn is a thread more or less in a queue: twice the time since the range began, and one more if a thread comes. So numbers sort as they should: who
// leaves at a time goes before who comes.
type turn int64

func come(at jvmthread.Time) turn  { return turn(at)<<1 | 1 }
func leave(at jvmthread.Time) turn { return turn(at) << 1 }

// at is the time since the range began; more is 1 or -1.
func (t turn) at() int64 { return int64(t >> 1) }
func (t turn) more() int { return int(t&1)<<1 - 1 }

// tallies gathers what is known of locks: of those that pass the filter, as far as the selected threads were concerned.
func (q *query) tallies(sel selection, wanted func(viewstore.LockIndex) bool) []*lockTally {
	all := make([]*lockTally, q.sn.NumLocks()) // by number; nil: nothing
	get := func(l viewstore.LockIndex) *lockTally {
		if all[l] == nil {
			all[l] = &lockTally{lock: l}
		}
		return all[l]
	}
	verdicts := make([]int8, len(all)) // 0: not asked yet
	fits := func(l viewstore.LockIndex) bool {
		if verdicts[l] == 0 {
			verdicts[l] = -1
			if l != 0 && wanted(l) {
				verdicts[l] = 1
			}
		}
		return verdicts[l] > 0
	}
	for _, i := range sel.list {
		c := q.sn.Walk(i, q.from, q.to)
		for c.Next() {
			k := kindOf(c.State)
			if k == kindNone || k == kindSleeping || k == kindJoined {
				continue
			}
			lock := c.Lock()
			if !fits(lock) {
				continue
			}
			t := get(lock)
			if q.began(&c) {
				t.states[k].Count++
			}
			t.states[k].Time += q.clip(c.Start, c.End)
			if k == kindBlocked && c.End > c.Start {
				t.queue = append(t.queue, come(max(c.Start, q.from)-q.from), leave(min(c.End, q.to)-q.from))
			}
		}
	}
	q.sn.Edges(q.from, q.to, func(e viewstore.Edge) bool {
		if e.Kind == jvmthread.InteractionHandoff && sel.has[e.To] && fits(e.Lock) {
			t := get(e.Lock)
			t.handoffs = append(t.handoffs, e)
		}
		return true
	})
	q.sn.Holds(q.from, q.to, func(h viewstore.Hold) bool {
		if t := all[h.Lock]; t != nil { // a lock for which none of the threads waited is of no interest
			t.holds = append(t.holds, h)
			t.holders.add(h.Thread)
		}
		return true
	})
	byStart := func(a, b viewstore.Hold) int { return compare(a.Start, b.Start) }
	out := all[:0]
	for _, t := range all {
		if t == nil {
			continue
		}
		out = append(out, t)
		slices.Sort(t.queue)
		if !slices.IsSortedFunc(t.holds, byStart) {
			slices.SortStableFunc(t.holds, byStart)
		}
	}
	return out
}

func (q *query) lockRow(t *lockTally) viewapi.LockRow {
	row := viewapi.LockRow{
		Lock: q.lockRef(t.lock), Blocked: t.states[kindBlocked], Waited: t.states[kindWaited], Parked: t.states[kindParked],
		Handoffs: len(t.handoffs), Holders: t.holders.n,
	}
	for i := range t.holds {
		h := &t.holds[i]
		if h.Start >= q.from {
			row.Held.Count++
		}
		row.Held.Time += q.clip(h.Start, h.End)
	}
	n := 0
	for _, s := range t.queue {
		n += s.more()
		row.Waiters = max(row.Waiters, n)
	}
	for _, c := range q.convoys(t, 1) {
		row.Convoy = c.Length
	}
	return row
}

const maxConvoyThreads = 9

// convoys finds the longest rows of handoffs, each by the thread that had got the lock by the one before.
func (q *query) convoys(t *lockTally, most int) []viewapi.Convoy {
	out := []viewapi.Convoy{}
	id := func(i int) uint64 { return uint64(q.sn.Threads[i].ID) }
	var c viewapi.Convoy
	last := -1
	end := func() {
		if c.Length > 1 || most == 1 && c.Length > 0 {
			out = append(out, c)
		}
	}
	for i := range t.handoffs {
		h := &t.handoffs[i]
		if h.From != last {
			end()
			c = viewapi.Convoy{From: q.rel(h.Effect), Threads: []uint64{id(h.From)}}
		}
		c.Length++
		c.To = q.rel(h.Effect)
		if len(c.Threads) < maxConvoyThreads {
			c.Threads = append(c.Threads, id(h.To))
		}
		last = h.To
	}
	end()
	slices.SortStableFunc(out, func(a, b viewapi.Convoy) int { return compare(b.Length, a.Length) })
	return out[:min(len(out), most)]
}

// lockFilter reads which locks are wanted.
func (q *query) lockFilter() func(viewstore.LockIndex) bool {
	ids, given := q.ids("locks")
	classes := q.all("class")
	_, byClass := q.values["class"]
	return func(l viewstore.LockIndex) bool {
		return (!given || contains(ids, uint64(l))) && (!byClass || slices.Contains(classes, q.sn.Class(l)))
	}
}

// locks answers the table of locks.
func (q *query) locks() (any, *Problem) {
	sel, wanted := q.selected(), q.lockFilter()
	q.paged(100, 500)
	if q.wrong != nil {
		return nil, q.wrong
	}
	rows := q.lockRows(q.tallies(sel, wanted))
	slices.SortStableFunc(rows, func(a, b viewapi.LockRow) int { return compare(b.Blocked.Time, a.Blocked.Time) })
	sorted(q.params, rows, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	return viewapi.Locks{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Offset: q.page.offset, Locks: piece(rows, q.page)}, nil
}

// lockRows returns the rows of locks by class and hash.
func (q *query) lockRows(all []*lockTally) []viewapi.LockRow {
	rows := make([]viewapi.LockRow, 0, len(all))
	for _, t := range all {
		rows = append(rows, q.lockRow(t))
	}
	slices.SortFunc(rows, func(a, b viewapi.LockRow) int {
		return cmp.Or(compare(a.Lock.Class, b.Lock.Class), compare(a.Lock.Hash, b.Lock.Hash), compare(a.Lock.ID, b.Lock.ID))
	})
	return rows
}
