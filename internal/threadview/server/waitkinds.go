// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// kindKey is a row of the table of kinds. The same kind may be counted under two states: a thread that joins another one may wait for an object.
type kindKey struct {
	kind kind
	wait jvmthread.Wait
}

// kindSum is the waits of a kind, and what they were for.
type kindSum struct {
	waits

	names map[string]int64
	sites map[method]siteTime
}

// method is code of the application that waits, and the library's method that it called to wait.
type method struct{ function, entry string }

// siteTime is how long threads waited in a method, and a stack of it.
type siteTime struct {
	time  int64
	stack store.StackID
}

func newKindSum() *kindSum { return &kindSum{names: map[string]int64{}, sites: map[method]siteTime{}} }

// waitKinds returns the table of waits by kind.
func (q *query) waitKinds() (any, *Problem) {
	sel := q.selected()
	inClass := q.matches("class")
	order := ordered[viewapi.KindRow](q.params, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	rows, sum := q.kindRows(sel, inClass)
	order(rows)
	return viewapi.Kinds{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Kinds: rows, Sum: sum.row()}, nil
}

// kindRows returns the waits by kind, those with the most time first, and their sum.
func (q *query) kindRows(sel selection, inClass func(string) bool) (rows []viewapi.KindRow, sum *kindSum) {
	wanted := [numKinds]bool{}
	for k := kindNone + 1; k < numKinds; k++ {
		wanted[k] = true
	}
	sites := map[kind]stackWaits{}
	q.waits(sel, wanted, func(k kind, at place) *waits {
		if !inClass(q.sn.Classes[at.class]) {
			return nil
		}
		if sites[k] == nil {
			sites[k] = stackWaits{}
		}
		return sites[k].of(at)
	})
	all := map[kindKey]*kindSum{}
	sum = newKindSum()
	for k, stacks := range sites {
		for at, t := range stacks {
			if t.Seen == 0 && t.Count == 0 && t.Time == 0 {
				continue // outside the range
			}
			key := kindKey{k, at.wait}
			if all[key] == nil {
				all[key] = newKindSum()
			}
			name := q.objectAt(at)
			all[key].add(t, name)
			site := q.sn.Site(at.stack)
			all[key].addSite(method{site.Function, site.Entry}, at.stack, t.Time)
			sum.add(t, name)
		}
	}
	rows = make([]viewapi.KindRow, 0, len(all))
	for k, t := range all {
		row := t.row()
		row.Wait, row.State, row.Idle, row.Site = waitWord(k.wait), kindWords()[k.kind], k.wait.Idle(), q.site(t.site())
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b viewapi.KindRow) int {
		return cmp.Or(cmp.Compare(b.Stats.Time, a.Stats.Time), cmp.Compare(a.Wait, b.Wait), cmp.Compare(a.State, b.State))
	})
	return rows, sum
}

// waitWord is the name of a kind of wait.
func waitWord(w jvmthread.Wait) string { return cmp.Or(w.String(), "unknown") }

// objectAt returns the name of what threads wait for at a place, or an empty string.
func (q *query) objectAt(at place) string {
	class := q.sn.Classes[at.class]
	if name := q.nameAt(at.wait, class, at.stack); name != "" || class == "" {
		return name
	}
	return wording.Object(at.wait, class, "", "")
}

func (t *kindSum) add(o *waits, name string) {
	t.merge(o)
	if name != "" {
		t.names[name] += o.Time
	}
}

func (t *kindSum) addSite(m method, stack store.StackID, time int64) {
	if m.function == "" {
		return
	}
	s := t.sites[m]
	if s.time += time; s.stack == 0 || stack < s.stack {
		s.stack = stack
	}
	t.sites[m] = s
}

// site returns a stack of the method with the most time, or 0.
func (t *kindSum) site() store.StackID {
	var most siteTime
	var at method
	for m, s := range t.sites {
		if most.stack == 0 || cmp.Or(cmp.Compare(s.time, most.time), cmp.Compare(at.function, m.function), cmp.Compare(at.entry, m.entry)) > 0 {
			most, at = s, m
		}
	}
	return most.stack
}

func (t *kindSum) row() viewapi.KindRow {
	most := slices.SortedFunc(maps.Keys(t.names), func(a, b string) int { return cmp.Or(cmp.Compare(t.names[b], t.names[a]), cmp.Compare(a, b)) })
	return viewapi.KindRow{
		Objects: t.monitors.Len(), Names: len(most), Most: append([]string{}, most[:min(len(most), 3)]...), Stats: statsOf(&t.Tally), Threads: t.threads.Len(),
	}
}
