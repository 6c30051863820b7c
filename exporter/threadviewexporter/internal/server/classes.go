// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store/sums"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// classTally is the sums of a class of locks.
type classTally struct {
	kinds    [numKinds]sums.Tally
	monitors sums.Set
	threads  sums.Set
}

func (c *classTally) row(name string) api.ClassRow {
	return api.ClassRow{
		Class: name, Blocked: statsOf(&c.kinds[kindBlocked]), Waited: statsOf(&c.kinds[kindWaited]), Reenter: statsOf(&c.kinds[kindReenter]),
		Parked: statsOf(&c.kinds[kindParked]), Joined: statsOf(&c.kinds[kindJoined]), Monitors: c.monitors.Len(), Threads: c.threads.Len(),
	}
}

// classes answers the table of classes of locks.
func (q *query) classes() (any, *Problem) {
	sel := q.selected()
	savings := q.choice("savings", "false", "true") == "true"
	wanted := q.number("thread", 0, 0, farAway)
	q.paged(100, 200)
	if q.wrong != nil {
		return nil, q.wrong
	}
	all := q.classTallies(sel)
	sum := &classTally{}
	rows := make([]api.ClassRow, 0, len(all))
	for id, t := range all {
		rows = append(rows, t.row(q.sn.ClassName(id)))
		for k := range t.kinds {
			sum.kinds[k].Merge(&t.kinds[k])
		}
		sum.monitors.Merge(&t.monitors)
		sum.threads.Merge(&t.threads)
	}
	slices.SortFunc(rows, func(a, b api.ClassRow) int { return compare(a.Class, b.Class) })
	if savings {
		if p := q.addSavings(rows, jvmthread.ThreadID(wanted)); p != nil {
			return nil, p
		}
	}
	sorted(q.params, rows, "class")
	if p := q.done(); p != nil {
		return nil, p
	}
	return api.Classes{
		From: q.rel(q.from), To: q.rel(q.to), Threads: len(sel.list), Total: len(rows), Offset: q.page.offset, Classes: piece(rows, q.page), Sum: sum.row(""),
	}, nil
}

// classTallies adds up the waits of threads, by class.
func (q *query) classTallies(sel selection) map[uint32]*classTally {
	all := map[uint32]*classTally{}
	get := func(class uint32) *classTally {
		t := all[class]
		if t == nil {
			t = &classTally{}
			all[class] = t
		}
		return t
	}
	cover := q.cover(sel, func(c *store.Rollup) bool { return c.Waits != nil })
	for _, rollup := range cover.Rollups {
		for i := range rollup.Waits {
			w := &rollup.Waits[i]
			k := kindOf(w.State)
			if k == kindSleeping {
				continue
			}
			t := get(w.Class)
			t.kinds[k].Merge(&w.Tally)
			w.Locks.AddTo(&t.monitors)
			w.Threads.AddTo(&t.threads)
		}
		rollup.Early(q.from, func(iv *store.Interval) {
			if k := kindOf(iv.As()); k != kindNone && k != kindSleeping {
				get(q.sn.ClassID(iv.Lock)).kinds[k].Clip(!iv.State.Continues(), int64(q.from-iv.Start))
			}
		})
	}
	for _, i := range sel.list {
		c := q.sn.Beside(i, q.from, q.to, &cover)
		for c.Next() {
			k := kindOf(c.As())
			if k == kindNone || k == kindSleeping {
				continue
			}
			lock := c.Lock()
			t := get(q.sn.ClassID(lock))
			t.kinds[k].Add(q.began(&c), q.clip(c.Start, c.End), int64(c.End-c.Start))
			if lock != 0 {
				t.monitors.Add(int(lock))
			}
			t.threads.Add(i)
		}
	}
	return all
}

// addSavings says of each class what would be gained without its contention.
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
	for _, s := range r.AppendSavings(nil, thread, criticalpath.ByClass) {
		found[q.sn.ClassName(uint32(s.Lock.Class))] = api.Saving{Drag: int64(s.Drag), Bound: int64(s.Bound)}
	}
	for i := range rows {
		s := found[rows[i].Class]
		rows[i].Saving = &s
	}
	return nil
}
