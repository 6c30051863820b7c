// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"slices"

	"github.com/weft-otel/weft/internal/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// classTally is the sums of a class of locks.
type classTally struct {
	kinds    [numKinds]tally
	monitors set
	threads  set
}

func (c *classTally) row(name string) viewapi.ClassRow {
	return viewapi.ClassRow{
		Class: name, Blocked: c.kinds[kindBlocked].stats(), Waited: c.kinds[kindWaited].stats(), Reenter: c.kinds[kindReenter].stats(),
		Parked: c.kinds[kindParked].stats(), Joined: c.kinds[kindJoined].stats(), Monitors: c.monitors.n, Threads: c.threads.n,
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
	all := map[uint32]*classTally{}
	sum := &classTally{}
	for _, i := range sel.list {
		c := q.sn.Walk(i, q.from, q.to)
		for c.Next() {
			k := kindOf(c.State)
			if k == kindNone || k == kindSleeping {
				continue
			}
			lock := c.Lock()
			id := q.sn.ClassID(lock)
			t := all[id]
			if t == nil {
				t = &classTally{}
				all[id] = t
			}
			t.kinds[k].add(q.began(&c), q.clip(c.Start, c.End), int64(c.End-c.Start))
			if lock != 0 {
				t.monitors.add(int(lock))
			}
			t.threads.add(i)
		}
	}
	rows := make([]viewapi.ClassRow, 0, len(all))
	for id, t := range all {
		rows = append(rows, t.row(q.sn.ClassName(id)))
		for k := range t.kinds {
			sum.kinds[k].merge(&t.kinds[k])
		}
		sum.monitors.merge(&t.monitors)
		sum.threads.merge(&t.threads)
	}
	slices.SortFunc(rows, func(a, b viewapi.ClassRow) int { return compare(a.Class, b.Class) })
	if savings {
		if p := q.addSavings(rows, jvmthread.ThreadID(wanted)); p != nil { //nolint:gosec // not negative
			return nil, p
		}
	}
	sorted(q.params, rows, "class")
	if p := q.done(); p != nil {
		return nil, p
	}
	return viewapi.Classes{
		From: q.rel(q.from), To: q.rel(q.to), Threads: len(sel.list), Total: len(rows), Offset: q.page.offset, Classes: piece(rows, q.page), Sum: sum.row(""),
	}, nil
}

// addSavings says of each class what would be gained without its contention.
func (q *query) addSavings(rows []viewapi.ClassRow, wanted jvmthread.ThreadID) *Problem {
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
	found := map[string]viewapi.Saving{}
	for _, s := range r.AppendSavings(nil, thread, criticalpath.ByClass) {
		found[q.sn.ClassName(uint32(s.Lock.Class))] = viewapi.Saving{Drag: int64(s.Drag), Bound: int64(s.Bound)}
	}
	for i := range rows {
		s := found[rows[i].Class]
		rows[i].Saving = &s
	}
	return nil
}
