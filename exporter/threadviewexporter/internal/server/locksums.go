// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store/sums"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// lockSum is what is known of one lock over the range, added up.
type lockSum struct {
	lock     store.LockIndex
	kinds    [numKinds]api.StateTime
	held     api.StateTime
	holders  sums.Set
	handoffs interaction.HandoffRuns[uint32]
	waiters  int
	wanted   bool // a thread waited for it, or got it handed on
}

// lockSums adds up what locks are about that are wanted, by number.
type lockSums struct {
	q    *query
	sel  selection
	all  []*lockSum // nil: nothing
	want []int8     // whether one is wanted; 0: not asked yet
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
func (q *query) lockRows(sel selection, wanted func(store.LockIndex) bool) []api.LockRow {
	n := q.sn.NumLocks()
	s := &lockSums{q: q, sel: sel, all: make([]*lockSum, n), want: make([]int8, n), fits: wanted}
	cover := q.cover(sel, func(c *store.Rollup) bool { return c.Locks != nil })
	s.intervals(&cover)
	q.sn.EdgesBefore(q.from, q.to, &cover, s.edge)
	for _, c := range cover.Rollups {
		s.rollup(c)
	}
	q.sn.EdgesAfter(q.from, q.to, &cover, s.edge)
	q.sn.HoldsBeside(q.from, q.to, &cover, s.hold)
	if len(cover.Rollups) == 0 {
		s.queues(q.from, q.to)
	} else {
		s.queues(q.from, cover.Start())
		s.queues(cover.End(), q.to)
	}
	rows := []api.LockRow{}
	for _, t := range s.all {
		if t != nil && t.wanted {
			rows = append(rows, q.lockRow(t))
		}
	}
	slices.SortFunc(rows, func(a, b api.LockRow) int {
		return cmp.Or(compare(a.Lock.Class, b.Lock.Class), compare(a.Lock.Hash, b.Lock.Hash), compare(a.Lock.ID, b.Lock.ID))
	})
	return rows
}

// lockKind is the kind of a wait for a lock, or kindNone.
func lockKind(state jvmthread.State) kind {
	switch k := kindOf(state); k {
	case kindBlocked, kindWaited, kindReenter, kindParked:
		return k
	case kindNone, kindJoined, kindSleeping, numKinds:
	}
	return kindNone
}

// intervals adds up the waits that are in no rollup.
func (s *lockSums) intervals(cover *store.Cover) {
	q := s.q
	for _, i := range s.sel.list {
		c := q.sn.Beside(i, q.from, q.to, cover)
		for c.Next() {
			k := lockKind(c.As())
			if k == kindNone {
				continue
			}
			t := s.of(c.Lock())
			if t == nil {
				continue
			}
			t.wanted = true
			if q.began(&c) {
				t.kinds[k].Count++
			}
			t.kinds[k].Time += q.clip(c.Start, c.End)
		}
	}
}

func (s *lockSums) rollup(c *store.Rollup) {
	from := s.q.from
	for i := range c.Locks {
		l := &c.Locks[i]
		t := s.of(l.Lock)
		if t == nil {
			continue
		}
		t.wanted = t.wanted || l.Wanted
		add(&t.kinds[kindBlocked], l.Blocked)
		add(&t.kinds[kindWaited], l.Waited)
		add(&t.kinds[kindParked], l.Parked)
		add(&t.held, l.Held)
		l.Holders.AddTo(&t.holders)
		t.handoffs.Merge(l.Handoffs)
		t.waiters = max(t.waiters, int(l.Queue))
	}
	c.Early(from, func(iv *store.Interval) {
		k := lockKind(iv.As())
		if k == kindNone {
			return
		}
		if t := s.of(iv.Lock); t != nil {
			if !iv.State.Continues() {
				t.kinds[k].Count--
			}
			t.kinds[k].Time -= int64(from - iv.Start)
		}
	})
	c.EarlyHolds(from, func(h *store.Hold) {
		if t := s.of(h.Lock); t != nil {
			t.held.Count--
			t.held.Time -= int64(from - h.Start)
		}
	})
}

func add(to *api.StateTime, sum store.Sum) {
	to.Count += sum.Count
	to.Time += sum.Time
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

func (s *lockSums) hold(h store.Hold) bool {
	if t := s.of(h.Lock); t != nil {
		if h.Start >= s.q.from {
			t.held.Count++
		}
		t.held.Time += s.q.clip(h.Start, h.End)
		t.holders.Add(h.Thread)
	}
	return true
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

func (q *query) lockRow(t *lockSum) api.LockRow {
	return api.LockRow{
		Lock: q.lockRef(t.lock), Blocked: t.kinds[kindBlocked], Waited: t.kinds[kindWaited], Parked: t.kinds[kindParked], Held: t.held,
		Handoffs: int(t.handoffs.Handoffs), Holders: t.holders.Len(), Waiters: t.waiters, Convoy: int(t.handoffs.Longest),
	}
}
