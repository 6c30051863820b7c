// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// lockLists is what happened to one lock over the range.
type lockLists struct {
	handoffs []store.Edge       // in the order of their effects
	holds    []store.Hold       // in the order of their starts
	queue    []interaction.Turn // threads that begin and cease to be blocked, in order
}

// lists gathers what happened to locks of which something is wanted.
func (q *query) lists(sel selection, wanted map[store.LockIndex]*lockLists) {
	byLock := make([]*lockLists, q.sn.NumLocks())
	for l, t := range wanted {
		byLock[l] = t
	}
	q.turns(sel, q.from, q.to, func(l store.LockIndex) *[]interaction.Turn {
		if t := byLock[l]; t != nil {
			return &t.queue
		}
		return nil
	})
	q.sn.Edges(q.from, q.to, func(e store.Edge) bool {
		if t := byLock[e.Lock]; t != nil && e.Kind == jvmthread.InteractionHandoff && sel.has[e.To] {
			t.handoffs = append(t.handoffs, e)
		}
		return true
	})
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		if t := byLock[h.Lock]; t != nil {
			t.holds = append(t.holds, h)
		}
		return true
	})
	byStart := func(a, b store.Hold) int { return compare(a.Start, b.Start) }
	for _, t := range wanted {
		slices.Sort(t.queue)
		if !slices.IsSortedFunc(t.holds, byStart) {
			slices.SortStableFunc(t.holds, byStart)
		}
	}
}

// turns gathers when threads begin and cease to be blocked within a range, by lock: of counts where to, or returns nil.
func (q *query) turns(sel selection, from, to jvmthread.Time, of func(store.LockIndex) *[]interaction.Turn) {
	q.sn.Sweep(from, to, sel.has, func(c *store.Cursor) {
		start, end := max(c.Start, from), min(c.End, to)
		if start >= end || kindOf(c.State) != kindBlocked || kindOf(c.As()) != kindBlocked {
			return
		}
		if list := of(c.Lock()); list != nil {
			*list = append(*list, interaction.Enter(start-from), interaction.Leave(end-from))
		}
	})
}

const maxConvoyThreads = 9

// convoys returns the longest handoff runs.
func (q *query) convoys(t *lockLists, most int) []api.Convoy {
	out := []api.Convoy{}
	id := func(i int) uint64 { return uint64(q.sn.Threads[i].ID) }
	var c api.Convoy
	keep := func() {
		if c.Length > 1 {
			out = append(out, c)
		}
	}
	var runs interaction.HandoffRuns[int]
	for i := range t.handoffs {
		h := &t.handoffs[i]
		position := int(runs.Add(h.From, h.To))
		if position == 1 {
			keep()
			c = api.Convoy{From: q.rel(h.Effect), Threads: []uint64{id(h.From)}}
		}
		c.Length, c.To = position, q.rel(h.Effect)
		if len(c.Threads) < maxConvoyThreads {
			c.Threads = append(c.Threads, id(h.To))
		}
	}
	keep()
	slices.SortStableFunc(out, func(a, b api.Convoy) int { return compare(b.Length, a.Length) })
	return out[:min(len(out), most)]
}

// lockFilter reads which locks are wanted.
func (q *query) lockFilter() func(store.LockIndex) bool {
	ids, given := q.ids("locks")
	classes := q.all("class")
	_, byClass := q.values["class"]
	return func(l store.LockIndex) bool {
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
	rows := q.lockRows(sel, wanted)
	slices.SortStableFunc(rows, func(a, b api.LockRow) int { return compare(b.Blocked.Time, a.Blocked.Time) })
	sorted(q.params, rows, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	return api.Locks{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Offset: q.page.offset, Locks: piece(rows, q.page)}, nil
}
