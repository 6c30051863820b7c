// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/wording"
)

const maxStacks = 20 // of one row

// callerKey identifies a row of callers.
type callerKey struct {
	class  uint32
	method string
}

type callerTally struct {
	parties

	stats   store.Tally
	stacks  map[store.StackID]*api.StackUse
	longest store.Interval
}

func newCallerTally() *callerTally {
	return &callerTally{stacks: map[store.StackID]*api.StackUse{}}
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
	sum := newCallerTally()
	all := q.callerTallies(sel, kind(slices.Index(kindWords(), word)), inClass)
	rows := make([]api.CallerRow, 0, len(all))
	for k, t := range all {
		row := t.row(q)
		row.Class, row.Method = q.sn.Classes[k.class], k.method
		rows = append(rows, row)
		sum.stats.Merge(&t.stats)
		sum.merge(&t.parties)
		if t.longest.Seq != 0 {
			sum.longer(t.longest)
		}
	}
	slices.SortFunc(rows, func(a, b api.CallerRow) int {
		return cmp.Or(cmp.Compare(a.Method, b.Method), cmp.Compare(a.Class, b.Class))
	})
	order(rows)
	out := api.Callers{From: q.rel(q.from), To: q.rel(q.to), Kind: word, Total: len(rows), Offset: q.page.offset, Callers: piece(rows, q.page), Sum: sum.row(q)}
	out.Sum.Stacks, out.Sum.Hidden = []api.StackUse{}, 0
	return out, nil
}

// callerTallies adds up the waits of one kind by class and method.
func (q *query) callerTallies(sel selection, want kind, inClass func(name string) bool) map[callerKey]*callerTally {
	all := map[callerKey]*callerTally{}
	places := map[store.StackID]wording.Place{}
	// of returns the sums of a row and of a stack in it, or nil if the class is not wanted.
	of := func(class uint32, stack store.StackID) (*callerTally, *api.StackUse) {
		if !inClass(q.sn.Classes[class]) {
			return nil, nil
		}
		place, ok := places[stack]
		if !ok {
			place, _ = wording.FindPlace(q.sn.Stacks[stack])
			places[stack] = place
		}
		k := callerKey{class, place.Function}
		t := all[k]
		if t == nil {
			t = newCallerTally()
			all[k] = t
		}
		use := t.use(stack, place)
		return t, use
	}
	q.sums(sel, hasWaits, func(r *store.Rollup) {
		for i := range r.Waits {
			w := &r.Waits[i]
			if kindOf(w.State) != want {
				continue
			}
			if t, use := of(w.Class, w.Stack); t != nil {
				t.sum(&t.stats, w)
				t.longer(w.Longest.Interval())
				use.Count += w.Count
				use.Time += w.Time
			}
		}
	}, func(c *store.Cursor) {
		for c.Next() {
			if kindOf(c.As()) != want {
				continue
			}
			lock := c.Lock()
			t, use := of(q.sn.Locks[lock].Class, c.Stack())
			if t == nil {
				continue
			}
			count, time := t.wait(q, &t.stats, c, lock)
			if !c.Early && c.End-c.Start >= t.longest.End-t.longest.Start {
				t.longer(c.Interval())
			}
			use.Count += count
			use.Time += time
		}
	})
	return all
}

// use returns the sums of a stack.
func (t *callerTally) use(stack store.StackID, place wording.Place) *api.StackUse {
	use := t.stacks[stack]
	if use == nil {
		use = &api.StackUse{Stack: uint32(stack), Line: place.File}
		if place.Line > 0 {
			use.Line += ":" + strconv.Itoa(place.Line)
		}
		t.stacks[stack] = use
	}
	return use
}

// longer keeps the longest interval. Among equals it keeps the earliest, then the one with the lowest thread index.
func (t *callerTally) longer(iv store.Interval) {
	old := &t.longest
	if old.Seq == 0 || cmp.Or(cmp.Compare(iv.End-iv.Start, old.End-old.Start), cmp.Compare(old.Start, iv.Start), cmp.Compare(old.Thread, iv.Thread)) > 0 {
		*old = iv
	}
}

func (t *callerTally) row(q *query) api.CallerRow {
	row := api.CallerRow{Stats: statsOf(&t.stats), Monitors: t.monitors.Len(), Threads: t.threads.Len(), Stacks: []api.StackUse{}}
	for id, use := range t.stacks {
		if id != 0 {
			row.Stacks = append(row.Stacks, *use)
		}
	}
	slices.SortFunc(row.Stacks, func(a, b api.StackUse) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Stack, b.Stack)) })
	if n := len(row.Stacks); n > maxStacks && !q.file {
		row.Stacks, row.Hidden = row.Stacks[:maxStacks], n-maxStacks
	}
	if t.longest.Seq != 0 {
		row.Longest = *q.reference(&t.longest)
	}
	return row
}
