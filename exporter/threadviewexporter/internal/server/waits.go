// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
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

const maxStacks = 20 // of one row

// caller is a row of callers.
type caller struct {
	waits

	stacks []api.StackUse
}

// callers returns the table of methods that blocked or waited.
func (q *query) callers() (any, *Problem) {
	sel := q.selected()
	word := q.choice("kind", kindWords()[kindBlocked:]...)
	inClass := q.matches("class")
	q.paged(100, 200)
	order := ordered[api.CallerRow](q.params, "method")
	if p := q.done(); p != nil {
		return nil, p
	}
	type site struct {
		class uint32
		stack store.StackID
	}
	sites := map[site]*waits{}
	var wanted [numKinds]bool
	wanted[slices.Index(kindWords(), word)] = true
	q.waits(sel, wanted, func(_ kind, class uint32, stack store.StackID) *waits {
		t := sites[site{class, stack}]
		if t == nil && inClass(q.sn.Classes[class]) {
			t = &waits{}
			sites[site{class, stack}] = t
		}
		return t
	})
	type method struct{ class, name string }
	sum := caller{stacks: []api.StackUse{}}
	all := map[method]*caller{}
	for at, t := range sites {
		place, _ := wording.FindPlace(q.sn.Stacks[at.stack])
		k := method{q.sn.Classes[at.class], place.Function}
		if all[k] == nil {
			all[k] = &caller{stacks: []api.StackUse{}}
		}
		all[k].merge(t)
		sum.merge(t)
		if at.stack != 0 {
			all[k].stacks = append(all[k].stacks, api.StackUse{Stack: uint32(at.stack), Count: t.Count, Time: t.Time, Line: line(place)})
		}
	}
	rows := make([]api.CallerRow, 0, len(all))
	for k, t := range all {
		row := q.callerRow(t)
		row.Class, row.Method = k.class, k.name
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b api.CallerRow) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Class, b.Class))
	})
	order(rows)
	out := api.Callers{From: q.rel(q.from), To: q.rel(q.to), Kind: word, Total: len(rows), Offset: q.page.offset, Callers: piece(rows, q.page), Sum: q.callerRow(&sum)}
	return out, nil
}

func (q *query) callerRow(t *caller) api.CallerRow {
	row := api.CallerRow{Stats: statsOf(&t.Tally), Monitors: t.monitors.Len(), Threads: t.threads.Len(), Stacks: t.stacks}
	slices.SortFunc(row.Stacks, func(a, b api.StackUse) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Stack, b.Stack)) })
	if n := len(row.Stacks); n > maxStacks && !q.file {
		row.Stacks, row.Hidden = row.Stacks[:maxStacks], n-maxStacks
	}
	if t.longest.Seq != 0 {
		row.Longest = *q.reference(&t.longest)
	}
	return row
}

// line is a place as in a stack trace: Matcher.java:42.
func line(p wording.Place) string {
	if p.Line == 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}
