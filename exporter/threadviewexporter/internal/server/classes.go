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

func classRow(name string, t *[numKinds]waits) api.ClassRow {
	var all waits
	for k := range t {
		all.merge(&t[k])
	}
	return api.ClassRow{
		Class: name, Blocked: statsOf(&t[kindBlocked].Tally), Waited: statsOf(&t[kindWaited].Tally), Reenter: statsOf(&t[kindReenter].Tally),
		Parked: statsOf(&t[kindParked].Tally), Joined: statsOf(&t[kindJoined].Tally), Monitors: all.monitors.Len(), Threads: all.threads.Len(),
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
	all := map[uint32]*[numKinds]waits{}
	kinds := [numKinds]bool{kindBlocked: true, kindWaited: true, kindReenter: true, kindParked: true, kindJoined: true}
	q.waits(sel, kinds, func(k kind, class uint32, _ store.StackID) *waits {
		t := all[class]
		if t == nil {
			t = new([numKinds]waits)
			all[class] = t
		}
		return &t[k]
	})
	var sum [numKinds]waits
	rows := make([]api.ClassRow, 0, len(all))
	for id, t := range all {
		rows = append(rows, classRow(q.sn.Classes[id], t))
		for k := range t {
			sum[k].merge(&t[k])
		}
	}
	slices.SortFunc(rows, func(a, b api.ClassRow) int { return cmp.Compare(a.Class, b.Class) })
	if savings {
		if p := q.addSavings(rows, jvmthread.ThreadID(wanted)); p != nil {
			return nil, p
		}
	}
	order(rows)
	return api.Classes{
		From: q.rel(q.from), To: q.rel(q.to), Threads: len(sel.list), Total: len(rows), Offset: q.page.offset, Classes: piece(rows, q.page), Sum: classRow("", &sum),
	}, nil
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
