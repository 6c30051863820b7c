// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// contended is the contended waits for what users see as one lock: by name and class, or a pool.
type contended struct {
	waits

	name  string
	class uint32
	kind  jvmthread.Wait
	site  store.StackID // with the most time
	most  int64
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
			c = &contended{name: n.text, class: k.class, kind: kind, most: -1}
			named[n] = c
			all = append(all, c)
		}
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

// part is a time in which a thread held a lock while others waited for it.
type part struct{ from, to jvmthread.Time }

// holdersOf returns who held locks while threads waited for them, the longest first, when each did, by the index of the thread, and for how long
// at least one thread waited.
func (q *query) holdersOf(sel selection, locks []int) (out []window.Holder, held map[int][]part, waited jvmthread.Time) {
	turns := make(map[store.LockIndex]*[]interaction.Turn, len(locks))
	for _, l := range locks {
		turns[store.LockIndex(l)] = new([]interaction.Turn)
	}
	q.turns(sel, q.from, q.to, func(l store.LockIndex) *[]interaction.Turn { return turns[l] })
	waits := make(map[store.LockIndex][]part, len(locks))
	for l, list := range turns {
		slices.Sort(*list)
		var queue interaction.Crowd
		var since jvmthread.Time
		for _, t := range *list {
			before := queue.Now
			queue.Apply(t)
			switch at := q.from + t.Time(); {
			case before == 0 && queue.Now > 0:
				since = at
			case before > 0 && queue.Now == 0:
				waits[l] = append(waits[l], part{since, at})
				waited += at - since
			}
		}
	}
	held = map[int][]part{}
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		list := waits[h.Lock]
		at, _ := slices.BinarySearchFunc(list, h.Start, func(p part, t jvmthread.Time) int { return cmp.Compare(p.to, t) })
		for ; at < len(list) && list[at].from < h.End; at++ {
			if p := (part{max(list[at].from, h.Start), min(list[at].to, h.End)}); p.from < p.to {
				held[h.Thread] = append(held[h.Thread], p)
			}
		}
		return true
	})
	for thread, list := range held {
		h := window.Holder{Thread: q.sn.Threads[thread].ID}
		for _, p := range list {
			h.Time += time.Duration(p.to - p.from)
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b window.Holder) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Thread, b.Thread))
	})
	out = slices.DeleteFunc(out, func(h window.Holder) bool { return h.Time < out[0].Time/leastAnswerShare })
	return out, held, waited
}
