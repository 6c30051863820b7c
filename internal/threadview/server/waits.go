// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

func classRow(name string, t *[numKinds]waits) viewapi.ClassRow {
	var all waits
	for k := range t {
		all.merge(&t[k])
	}
	return viewapi.ClassRow{
		Class: name, Names: []string{}, Blocked: statsOf(&t[kindBlocked].Tally), Waited: statsOf(&t[kindWaited].Tally), Reenter: statsOf(&t[kindReenter].Tally),
		Parked: statsOf(&t[kindParked].Tally), Joined: statsOf(&t[kindJoined].Tally), Monitors: all.monitors.Len(), Threads: all.threads.Len(),
	}
}

// classes returns the table of lock classes.
func (q *query) classes() (any, *Problem) {
	sel := q.selected()
	savings := q.choice("savings", "false", "true") == "true"
	wanted := q.number("thread", 0, 0, farAway)
	q.paged(100, 200)
	order := ordered[viewapi.ClassRow](q.params, "class")
	if p := q.done(); p != nil {
		return nil, p
	}
	all := map[uint32]*[numKinds]waits{}
	kinds := [numKinds]bool{kindBlocked: true, kindWaited: true, kindReenter: true, kindParked: true, kindJoined: true}
	blocked := stackWaits{} // by stack, as it names the locks
	of := func(class uint32) *[numKinds]waits {
		t := all[class]
		if t == nil {
			t = new([numKinds]waits)
			all[class] = t
		}
		return t
	}
	q.waits(sel, kinds, func(k kind, at place) *waits {
		switch {
		case k == kindBlocked:
			return blocked.of(at)
		case wording.IsActivity(q.sn.Classes[at.class]): // no lock
			return nil
		}
		return &of(at.class)[k]
	})
	for at, t := range blocked {
		of(at.class)[kindBlocked].merge(t)
	}
	names := q.namesOf(blocked)
	var sum [numKinds]waits
	rows := make([]viewapi.ClassRow, 0, len(all))
	for id, t := range all {
		row := classRow(q.sn.Classes[id], t)
		row.Kind, row.Names = names[id].kind(), names[id].most()
		rows = append(rows, row)
		for k := range t {
			sum[k].merge(&t[k])
		}
	}
	slices.SortFunc(rows, func(a, b viewapi.ClassRow) int { return cmp.Compare(a.Class, b.Class) })
	if savings {
		if p := q.addSavings(rows, jvmthread.ThreadID(wanted)); p != nil {
			return nil, p
		}
	}
	order(rows)
	return viewapi.Classes{
		From: q.rel(q.from), To: q.rel(q.to), Threads: len(sel.list), Total: len(rows), Offset: q.page.offset, Classes: piece(rows, q.page), Sum: classRow("", &sum),
	}, nil
}

// addSavings adds what removing the contention of each class would save.
func (q *query) addSavings(rows []viewapi.ClassRow, wanted jvmthread.ThreadID) *Problem {
	g, p := q.graph()
	if p != nil {
		return p
	}
	defer g.close()
	thread, _, p := q.whose(g, wanted, false)
	if p != nil || thread == jvmthread.NoThread {
		return p
	}
	var r criticalpath.Retiming
	g.graph.Retime(q.from, q.to, &r)
	found := map[string]*viewapi.Saving{}
	for i := range rows {
		found[rows[i].Class] = new(viewapi.Saving)
	}
	for lock, saving := range savings(&r, thread, criticalpath.ByClass) {
		found[q.sn.Classes[lock.Class]] = saving
	}
	c := q.sn.Walk(q.sn.Thread(thread), q.from, q.to)
	for c.Next() {
		if kindOf(c.As()) == kindBlocked {
			if saving := found[q.sn.Class(c.Lock())]; saving != nil {
				saving.Waited += q.clip(c.Start, c.End)
			}
		}
	}
	for i := range rows {
		rows[i].Saving = found[rows[i].Class]
	}
	return nil
}

const maxStacks = 20 // of one row

// caller is a row of callers.
type caller struct {
	waits

	stacks []viewapi.StackUse
}

// callers returns the table of methods that blocked or waited.
func (q *query) callers() (any, *Problem) {
	sel := q.selected()
	word := q.choice("kind", kindWords()[kindBlocked:]...)
	inClass, isFor := q.matches("class"), q.matches("wait")
	q.paged(100, 200)
	order := ordered[viewapi.CallerRow](q.params, "method")
	if p := q.done(); p != nil {
		return nil, p
	}
	sites := stackWaits{}
	var wanted [numKinds]bool
	wanted[slices.Index(kindWords(), word)] = true
	q.waits(sel, wanted, func(_ kind, at place) *waits {
		if !inClass(q.sn.Classes[at.class]) || !isFor(waitWord(at.wait)) {
			return nil
		}
		return sites.of(at)
	})
	type method struct{ class, name, lock string }
	sum := caller{stacks: []viewapi.StackUse{}}
	all := map[method]*caller{}
	for at, t := range sites {
		site := q.sn.Site(at.stack)
		class := q.sn.Classes[at.class]
		k := method{class, site.Function, q.nameAt(at.wait, class, at.stack)}
		if all[k] == nil {
			all[k] = &caller{stacks: []viewapi.StackUse{}}
		}
		all[k].merge(t)
		sum.merge(t)
		if at.stack != 0 {
			all[k].stacks = append(all[k].stacks, viewapi.StackUse{Stack: uint32(at.stack), Count: t.Count, Time: t.Time, Line: line(site.File, site.Line)})
		}
	}
	rows := make([]viewapi.CallerRow, 0, len(all))
	for k, t := range all {
		row := q.callerRow(t)
		row.Class, row.Method, row.Name, row.Wait = k.class, k.name, k.lock, t.longest.Wait.String()
		if row.Name == "" && k.class != "" {
			row.Name = wording.Object(t.longest.Wait, k.class, "", "")
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b viewapi.CallerRow) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Name, b.Name))
	})
	order(rows)
	out := viewapi.Callers{From: q.rel(q.from), To: q.rel(q.to), Kind: word, Total: len(rows), Offset: q.page.offset, Callers: piece(rows, q.page), Sum: q.callerRow(&sum)}
	return out, nil
}

func (q *query) callerRow(t *caller) viewapi.CallerRow {
	row := viewapi.CallerRow{Stats: statsOf(&t.Tally), Monitors: t.monitors.Len(), Threads: t.threads.Len(), Stacks: distinct(t.stacks)}
	slices.SortFunc(row.Stacks, func(a, b viewapi.StackUse) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Stack, b.Stack))
	})
	if n := len(row.Stacks); n > maxStacks && !q.file {
		row.Stacks, row.Hidden = row.Stacks[:maxStacks], n-maxStacks
	}
	if t.longest.Seq != 0 {
		row.Longest = *q.reference(&t.longest)
	}
	return row
}

// distinct adds up the waits of several kinds at the same stack.
func distinct(stacks []viewapi.StackUse) []viewapi.StackUse {
	slices.SortFunc(stacks, func(a, b viewapi.StackUse) int { return cmp.Compare(a.Stack, b.Stack) })
	out := stacks[:0]
	for _, s := range stacks {
		if n := len(out); n > 0 && out[n-1].Stack == s.Stack {
			out[n-1].Count += s.Count
			out[n-1].Time += s.Time
			continue
		}
		out = append(out, s)
	}
	return out
}

// line is a place as in a stack trace: Matcher.java:42.
func line(file string, number int) string {
	if number == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(number)
}
