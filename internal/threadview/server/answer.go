// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// contended is the contended waits for what users see as one lock: by name and class, or a pool.
type contended struct {
	waits

	name   string
	places map[place]bool
	class  uint32
	kind   jvmthread.Wait
	site   store.StackID // with the most time
	most   int64
}

// contention adds up the contended waits of the range by what they are for.
func (q *query) contention(sel selection) (all []*contended, sum int64) {
	stacks := stackWaits{}
	q.waits(sel, [numKinds]bool{kindBlocked: true}, func(_ kind, at place) *waits { return stacks.of(at) })
	type name struct {
		class uint32
		text  string
	}
	named := map[name]*contended{}
	for k, t := range stacks {
		site, kind := q.sn.Site(k.stack), k.wait
		n := name{k.class, wording.Object(kind, q.sn.Classes[k.class], site.Lock, site.Entry)}
		if kind == jvmthread.WaitPool {
			n.class = 0 // a pool is one, whatever the classes it uses to wait
		}
		c := named[n]
		if c == nil {
			c = &contended{name: n.text, places: make(map[place]bool), class: k.class, kind: kind, most: -1}
			named[n] = c
			all = append(all, c)
		}
		c.places[k] = true
		c.merge(t)
		sum += t.Time
		if t.Time > c.most || t.Time == c.most && k.stack < c.site {
			c.most, c.site, c.class = t.Time, k.stack, k.class
		}
	}
	slices.SortFunc(all, func(a, b *contended) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.name, b.name), cmp.Compare(a.class, b.class))
	})
	return all, sum
}

// answer returns what costs the most.
func (q *query) answer() (any, *Problem) {
	sel := q.selected()
	if p := q.done(); p != nil {
		return nil, p
	}
	out := viewapi.Answer{From: q.rel(q.from), To: q.rel(q.to)}
	all, sum := q.contention(sel)
	if out.Time = sum; sum == 0 {
		return out, nil
	}
	c := all[0]
	locks := c.monitors.List()
	cost := &viewapi.Cost{
		Name: c.name, Class: q.sn.Classes[c.class], Kind: c.kind.String(), Unit: wording.Unit(c.kind, q.sn.Site(c.site).Entry),
		Locks: len(locks), Time: c.Time, Count: c.Count,
		Site: q.site(c.site), Holders: []viewapi.Holder{},
	}
	if len(locks) == 1 {
		cost.Lock = uint32(locks[0])
	}
	q.addHolders(cost, c, sel)
	out.Most = cost
	return out, nil
}
