// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// classTally is the sums of a class of locks.
type classTally struct {
	parties

	kinds [numKinds]store.Tally
}

func (c *classTally) row(name string) api.ClassRow {
	return api.ClassRow{
		Class: name, Blocked: statsOf(&c.kinds[kindBlocked]), Waited: statsOf(&c.kinds[kindWaited]), Reenter: statsOf(&c.kinds[kindReenter]),
		Parked: statsOf(&c.kinds[kindParked]), Joined: statsOf(&c.kinds[kindJoined]), Monitors: c.monitors.Len(), Threads: c.threads.Len(),
	}
}

// classes returns the table of lock classes.
func (q *query) classes() (any, *Problem) {
	sel := q.selected()
	savings := q.choice("savings", "false", "true") == "true"
	wanted := q.number("thread", 0, 0, farAway)
	q.paged(100, 200)
	order := ordered[api.ClassRow](q.params, "class")
	if p := q.done(); p != nil {
		return nil, p
	}
	all := q.classTallies(sel)
	sum := &classTally{}
	rows := make([]api.ClassRow, 0, len(all))
	for id, t := range all {
		rows = append(rows, t.row(q.sn.Classes[id]))
		for k := range t.kinds {
			sum.kinds[k].Merge(&t.kinds[k])
		}
		sum.merge(&t.parties)
	}
	slices.SortFunc(rows, func(a, b api.ClassRow) int { return cmp.Compare(a.Class, b.Class) })
	if savings {
		if p := q.addSavings(rows, jvmthread.ThreadID(wanted)); p != nil {
			return nil, p
		}
	}
	order(rows)
	return api.Classes{
		From: q.rel(q.from), To: q.rel(q.to), Threads: len(sel.list), Total: len(rows), Offset: q.page.offset, Classes: piece(rows, q.page), Sum: sum.row(""),
	}, nil
}

// classTallies adds up the waits of threads by class.
func (q *query) classTallies(sel selection) map[uint32]*classTally {
	all := map[uint32]*classTally{}
	of := func(class uint32) *classTally {
		t := all[class]
		if t == nil {
			t = &classTally{}
			all[class] = t
		}
		return t
	}
	q.sums(sel, hasWaits, func(r *store.Rollup) {
		for i := range r.Waits {
			w := &r.Waits[i]
			if k := kindOf(w.State); k != kindSleeping {
				t := of(w.Class)
				t.sum(&t.kinds[k], w)
			}
		}
	}, func(c *store.Cursor) {
		for c.Next() {
			k := kindOf(c.As())
			if k == kindNone || k == kindSleeping {
				continue
			}
			lock := c.Lock()
			t := of(q.sn.Locks[lock].Class)
			t.wait(q, &t.kinds[k], c, lock)
		}
	})
	return all
}

// addSavings adds what removing the contention of each class would save.
func (q *query) addSavings(rows []api.ClassRow, wanted jvmthread.ThreadID) *Problem {
	g, p := q.graph()
	if p != nil {
		return p
	}
	thread, _, p := q.whose(g, wanted)
	if p != nil || thread == jvmthread.NoThread {
		return p
	}
	var r criticalpath.Retiming
	g.graph.Retime(q.from, q.to, &r)
	found := map[string]api.Saving{}
	for lock, saving := range savings(&r, thread, criticalpath.ByClass) {
		found[q.sn.Classes[lock.Class]] = saving
	}
	for i := range rows {
		s := found[rows[i].Class]
		rows[i].Saving = &s
	}
	return nil
}
