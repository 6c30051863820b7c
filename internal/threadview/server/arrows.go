// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// arrows returns the interactions of a range.
func (q *query) arrows() (any, *Problem) {
	sel := q.selected()
	limit := min(int(q.number("limit", 500, 1, 1000)), max(1, q.most))
	q.page.limit = limit
	wanted := q.words("kinds", kindNames())
	if p := q.done(); p != nil {
		return nil, p
	}
	s := sieve{from: q.from, to: q.to, slots: limit}
	q.sn.Edges(q.from, q.to, func(e store.Edge) bool {
		if (wanted == nil || slices.Contains(wanted, int(e.Kind))) && sel.has[e.From] && sel.has[e.To] {
			s.add(e)
		}
		return true
	})
	out := viewapi.Arrows{From: q.rel(q.from), To: q.rel(q.to), Kinds: make([]viewapi.ArrowKind, jvmthread.NumInteractionKinds), Arrows: []viewapi.Arrow{}}
	seen := make([]bool, len(q.sn.Threads))
	for kind, list := range s.pick(limit) {
		out.Kinds[kind] = viewapi.ArrowKind{Total: s.total[kind], Hidden: s.total[kind] - len(list)}
		for _, e := range list {
			a := viewapi.Arrow{
				Kind: kind, From: q.id(e.From), FromTime: q.rel(e.Cause), To: q.id(e.To), ToTime: q.rel(e.Effect),
				ToStart: q.rel(e.Effect), Lock: q.lockRef(e.Lock), Confidence: e.Confidence.String(),
			}
			if iv, ok := q.sn.Numbered(e.To, e.ToSeq, e.Effect); ok {
				a.ToStart = q.rel(iv.Start)
			}
			seen[e.From], seen[e.To] = true, true
			out.Arrows = append(out.Arrows, a)
		}
	}
	slices.SortStableFunc(out.Arrows, func(a, b viewapi.Arrow) int { return cmp.Compare(a.ToTime, b.ToTime) })
	out.Threads, out.Virtual = q.refs(seen), q.members(seen)
	out.Calls = q.notifies(sel, wanted, limit)
	return out, nil
}

// sieve keeps the interaction with the longest latency of each kind in each slot of a range, so those kept are distributed like all of them.
type sieve struct {
	from, to jvmthread.Time
	slots    int
	total    [jvmthread.NumInteractionKinds]int
	best     [jvmthread.NumInteractionKinds][]store.Edge // by slot; without a kind: none
	all      [jvmthread.NumInteractionKinds][]store.Edge // while they are few
}

func (s *sieve) add(e store.Edge) {
	s.total[e.Kind]++
	if len(s.all[e.Kind]) < s.slots {
		s.all[e.Kind] = append(s.all[e.Kind], e)
	}
	if s.best[e.Kind] == nil {
		s.best[e.Kind] = make([]store.Edge, s.slots)
	}
	at := int(float64(e.Effect-s.from) / float64(s.to-s.from) * float64(s.slots))
	slot := &s.best[e.Kind][min(at, s.slots-1)] // the quotient may be rounded up to 1
	if slot.Kind == jvmthread.InteractionNone || e.Effect-e.Cause > slot.Effect-slot.Cause {
		*slot = e
	}
}

// pick returns at most limit interactions, divided among the kinds.
func (s *sieve) pick(limit int) (out [jvmthread.NumInteractionKinds][]store.Edge) {
	left := limit
	var kinds []int
	for kind, n := range s.total {
		if n > 0 {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b int) int { return cmp.Compare(s.total[a], s.total[b]) })
	for i, kind := range kinds { // the rare ones first; the others share the rest
		part := left / (len(kinds) - i)
		list := s.all[kind]
		if s.total[kind] > part {
			list = merged(s.best[kind], part)
		}
		out[kind] = list
		left -= len(list)
	}
	return out
}

// merged joins slots until at most limit are left, which may be 0.
func merged(best []store.Edge, limit int) []store.Edge {
	if limit == 0 {
		return nil
	}
	out := make([]store.Edge, 0, limit)
	last := -1
	for i := range best {
		e := best[i]
		if e.Kind == jvmthread.InteractionNone {
			continue
		}
		if slot := i * limit / len(best); slot != last {
			last = slot
			out = append(out, e)
		} else if k := &out[len(out)-1]; e.Effect-e.Cause > k.Effect-k.Cause {
			*k = e
		}
	}
	return out
}
