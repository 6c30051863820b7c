// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/viewstore"
	"github.com/weft-otel/weft/internal/wording"
)

const maxStacks = 20 // of one row

// callerKey is what rows of callers are told apart by.
type callerKey struct {
	class  uint32
	method string
}

type callerTally struct {
	stats    tally
	monitors set
	threads  set
	stacks   map[viewstore.StackID]*viewapi.StackUse
	longest  viewstore.Interval
}

func newCallerTally() *callerTally {
	return &callerTally{stacks: map[viewstore.StackID]*viewapi.StackUse{}}
}

// callers answers the table of methods that blocked or waited.
func (q *query) callers() (any, *Problem) {
	sel := q.selected()
	word := q.choice("kind", kindWords()[kindBlocked:]...)
	want := kind(slices.Index(kindWords(), word)) //nolint:gosec // few
	classes := q.all("class")
	_, byClass := q.values["class"]
	q.paged(100, 200)
	if q.wrong != nil {
		return nil, q.wrong
	}
	all, sum := map[callerKey]*callerTally{}, newCallerTally()
	places := map[viewstore.StackID]wording.Place{}
	for _, i := range sel.list {
		c := q.sn.Walk(i, q.from, q.to)
		for c.Next() {
			if kindOf(c.State) != want {
				continue
			}
			lock := c.Lock()
			if byClass && !slices.Contains(classes, q.sn.Class(lock)) {
				continue
			}
			stack := c.Stack()
			place, ok := places[stack]
			if !ok {
				place, _ = wording.FindPlace(q.sn.Stack(stack))
				places[stack] = place
			}
			k := callerKey{q.sn.ClassID(lock), place.Function}
			t := all[k]
			if t == nil {
				t = newCallerTally()
				all[k] = t
			}
			t.add(q, &c, place)
		}
	}
	rows := make([]viewapi.CallerRow, 0, len(all))
	for k, t := range all {
		row := t.row(q)
		row.Class, row.Method = q.sn.ClassName(k.class), k.method
		rows = append(rows, row)
		sum.merge(t)
	}
	slices.SortFunc(rows, func(a, b viewapi.CallerRow) int {
		return cmp.Or(compare(a.Method, b.Method), compare(a.Class, b.Class))
	})
	sorted(q.params, rows, "method")
	if p := q.done(); p != nil {
		return nil, p
	}
	out := viewapi.Callers{From: q.rel(q.from), To: q.rel(q.to), Kind: word, Total: len(rows), Offset: q.page.offset, Callers: piece(rows, q.page), Sum: sum.row(q)}
	out.Sum.Stacks, out.Sum.Hidden = []viewapi.StackUse{}, 0
	return out, nil
}

func (t *callerTally) add(q *query, c *viewstore.Cursor, place wording.Place) {
	began, part := q.began(c), q.clip(c.Start, c.End)
	t.stats.add(began, part, int64(c.End-c.Start))
	if lock := c.Lock(); lock != 0 {
		t.monitors.add(int(lock))
	}
	if longest := t.longest.End - t.longest.Start; t.longest.Seq == 0 || c.End-c.Start > longest {
		t.longest = c.Interval()
	}
	t.threads.add(c.Thread())
	stack := c.Stack()
	use := t.stacks[stack]
	if use == nil {
		use = &viewapi.StackUse{Stack: uint32(stack), Line: place.File}
		if place.Line > 0 {
			use.Line += ":" + strconv.Itoa(place.Line)
		}
		t.stacks[stack] = use
	}
	if began {
		use.Count++
	}
	use.Time += part
}

func (t *callerTally) merge(o *callerTally) {
	t.stats.merge(&o.stats)
	t.monitors.merge(&o.monitors)
	t.threads.merge(&o.threads)
	if t.longest.Seq == 0 || o.longest.End-o.longest.Start > t.longest.End-t.longest.Start {
		t.longest = o.longest
	}
}

func (t *callerTally) row(q *query) viewapi.CallerRow {
	row := viewapi.CallerRow{Stats: t.stats.stats(), Monitors: t.monitors.n, Threads: t.threads.n, Stacks: []viewapi.StackUse{}}
	for id, use := range t.stacks {
		if id != 0 {
			row.Stacks = append(row.Stacks, *use)
		}
	}
	slices.SortFunc(row.Stacks, func(a, b viewapi.StackUse) int { return cmp.Or(compare(b.Time, a.Time), compare(a.Stack, b.Stack)) })
	if n := len(row.Stacks); n > maxStacks && !q.file {
		row.Stacks, row.Hidden = row.Stacks[:maxStacks], n-maxStacks
	}
	if t.longest.Seq != 0 {
		row.Longest = q.reference(&t.longest)
	}
	return row
}
