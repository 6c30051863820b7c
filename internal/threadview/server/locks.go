// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// locks returns the table of locks.
func (q *query) locks() (any, *Problem) {
	sel, wanted := q.selected(), q.lockFilter()
	contended := q.choice("contended", "false", "true") == "true"
	q.paged(100, 500)
	order := ordered[viewapi.LockRow](q.params, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	rows := q.lockRows(sel, wanted)
	if contended {
		rows = slices.DeleteFunc(rows, func(r viewapi.LockRow) bool { return r.Blocked == (viewapi.StateTime{}) })
	}
	slices.SortStableFunc(rows, func(a, b viewapi.LockRow) int { return cmp.Compare(b.Blocked.Time, a.Blocked.Time) })
	order(rows)
	return viewapi.Locks{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Offset: q.page.offset, Locks: piece(rows, q.page)}, nil
}

// lockFilter reads which locks are wanted.
func (q *query) lockFilter() func(store.LockIndex) bool {
	hasID, inClass := q.ids("locks"), q.matches("class")
	return func(l store.LockIndex) bool { return hasID(uint64(l)) && inClass(q.sn.Class(l)) }
}

// lockSum is the sums of one lock over the range.
type lockSum struct {
	lock     store.LockIndex
	kinds    [numKinds]viewapi.StateTime
	held     viewapi.StateTime
	holders  store.Set
	handoffs interaction.HandoffRuns[uint32]
	waiters  int
	longest  store.LongestWait
	wanted   bool // a thread waited for it, or received it
}

// lockSums adds up the wanted locks.
type lockSums struct {
	q    *query
	sel  selection
	all  []*lockSum // by number; nil: no sums
	want []int8     // by number: 1 or -1; 0: not decided yet
	fits func(store.LockIndex) bool
}

// of returns the sums of a lock, or nil if it is not wanted.
func (s *lockSums) of(l store.LockIndex) *lockSum {
	if s.want[l] == 0 {
		s.want[l] = -1
		if l != 0 && s.fits(l) {
			s.want[l] = 1
		}
	}
	if s.want[l] < 0 {
		return nil
	}
	if s.all[l] == nil {
		s.all[l] = &lockSum{lock: l}
	}
	return s.all[l]
}

// lockRows returns the rows of locks by class and hash.
func (q *query) lockRows(sel selection, wanted func(store.LockIndex) bool) []viewapi.LockRow {
	n := len(q.sn.Locks)
	s := &lockSums{q: q, sel: sel, all: make([]*lockSum, n), want: make([]int8, n), fits: wanted}
	cover := q.cover(sel, func(r *store.Rollup) bool { return r.Locks != nil })
	q.sn.Uncovered(q.from, q.to, &cover, sel.has, s.intervals)
	q.sn.UncoveredEdges(q.from, q.to, &cover, s.rollup, s.edge)
	q.sn.UncoveredHolds(q.from, q.to, &cover, s.hold)
	cover.Outside(q.from, q.to, s.queues)
	rows := []viewapi.LockRow{}
	for _, t := range s.all {
		if t != nil && t.wanted {
			rows = append(rows, viewapi.LockRow{
				Lock: q.lockRef(t.lock), Name: q.nameAt(t.longest.Wait, q.sn.Class(t.lock), t.longest.Stack), Kind: t.longest.Wait.String(),
				Blocked: t.kinds[kindBlocked], Waited: t.kinds[kindWaited], Parked: t.kinds[kindParked], Held: t.held,
				Handoffs: int(t.handoffs.Handoffs), Holders: t.holders.Len(), Waiters: t.waiters, Convoy: int(t.handoffs.Longest),
			})
		}
	}
	slices.SortFunc(rows, func(a, b viewapi.LockRow) int {
		return cmp.Or(cmp.Compare(a.Lock.Class, b.Lock.Class), cmp.Compare(a.Lock.Hash, b.Lock.Hash), cmp.Compare(a.Lock.ID, b.Lock.ID))
	})
	return rows
}

func (s *lockSums) intervals(c *store.Cursor) {
	for c.Next() {
		k := kindOf(c.As())
		if k == kindNone || k > kindParked {
			continue
		}
		if t := s.of(c.Lock()); t != nil {
			t.wanted = t.wanted || !c.Early
			count, time := s.q.share(c)
			add(&t.kinds[k], s.q.begun(c, count), time)
			if k == kindBlocked && !c.Early && c.Waited() >= t.longest.Length {
				t.longest.See(store.LongestWait{Length: c.Waited(), Stack: c.Stack(), Wait: c.Wait()})
			}
		}
	}
}

func add(to *viewapi.StateTime, count, time int64) {
	to.Count += count
	to.Time += time
}

func (s *lockSums) rollup(r *store.Rollup) {
	for i := range r.Locks {
		l := &r.Locks[i]
		t := s.of(l.Lock)
		if t == nil {
			continue
		}
		t.wanted = t.wanted || l.Wanted
		t.longest.See(l.LongestWait)
		add(&t.kinds[kindBlocked], l.Blocked.Count, l.Blocked.Time)
		add(&t.kinds[kindWaited], l.Waited.Count, l.Waited.Time)
		add(&t.kinds[kindParked], l.Parked.Count, l.Parked.Time)
		add(&t.held, l.Held.Count, l.Held.Time)
		l.Holders.AddTo(&t.holders)
		t.handoffs.Merge(l.Handoffs)
		t.waiters = max(t.waiters, int(l.Queue))
	}
}

func (s *lockSums) edge(e store.Edge) bool {
	if e.Kind == jvmthread.InteractionHandoff && s.sel.has[e.To] {
		if t := s.of(e.Lock); t != nil {
			t.wanted = true
			t.handoffs.Add(uint32(e.From), uint32(e.To))
		}
	}
	return true
}

func (s *lockSums) hold(h store.Hold, early bool) {
	t := s.of(h.Lock)
	switch {
	case t == nil:
		return
	case early:
		t.held.Count--
		t.held.Time -= int64(s.q.from - h.Start)
		return
	case h.Start >= s.q.from:
		t.held.Count++
	}
	t.held.Time += s.q.clip(h.Start, h.End)
	t.holders.Add(h.Thread)
}

// queues finds the longest queues within a part of the range.
func (s *lockSums) queues(from, to jvmthread.Time) {
	if from >= to {
		return
	}
	lists := make([][]interaction.Turn, len(s.all))
	s.q.turns(s.sel, from, to, func(l store.LockIndex) *[]interaction.Turn {
		if s.of(l) == nil {
			return nil
		}
		return &lists[l]
	})
	for l, list := range lists {
		if len(list) > 0 {
			s.all[l].waiters = max(s.all[l].waiters, interaction.Peak(list))
		}
	}
}

// turns gathers, by lock, when threads begin and cease to be blocked within a part of the range, as times since its start. of returns the list
// of a lock, or nil.
func (q *query) turns(sel selection, from, to jvmthread.Time, of func(store.LockIndex) *[]interaction.Turn) {
	q.sn.Sweep(from, to, sel.has, func(c *store.Cursor) {
		start, end := max(c.Start, from), min(c.End, to)
		if start >= end || kindOf(c.As()) != kindBlocked {
			return
		}
		if list := of(c.Lock()); list != nil {
			*list = append(*list, interaction.Enter(start-from), interaction.Leave(end-from))
		}
	})
}
