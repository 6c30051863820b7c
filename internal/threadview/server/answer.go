// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/explain/stuck"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// contended is the contended waits for what users see as one lock: by name and class, or a pool.
type contended struct {
	waits

	name   string
	caller string // see viewapi.CostRow
	places map[place]bool
	class  uint32
	kind   jvmthread.Wait
	site   store.StackID // with the most time
	most   int64
}

// contentions is what threads waited for that others held, what cost the most first.
type contentions struct {
	all    []*contended
	of     map[place]*contended
	stacks stackWaits
	sum    int64
}

// contention adds up the contended waits of the range by what they are for.
func (q *query) contention(sel selection) *contentions {
	return q.waitsFor(sel, [numKinds]bool{kindBlocked: true}, func(place) bool { return true })
}

// waitsFor adds up waits of the range by what they are for.
func (q *query) waitsFor(sel selection, kinds [numKinds]bool, wanted func(place) bool) *contentions {
	stacks := stackWaits{}
	q.waits(sel, kinds, func(_ kind, at place) *waits {
		if !wanted(at) {
			return nil
		}
		return stacks.of(at)
	})
	named, out := map[subject]*contended{}, &contentions{of: make(map[place]*contended, len(stacks)), stacks: stacks}
	for k, t := range stacks {
		if t.Count == 0 && t.Time == 0 {
			continue // outside the range
		}
		n := q.subject(k)
		c := named[n]
		if c == nil {
			c = &contended{name: n.text, caller: n.caller, places: make(map[place]bool), class: k.class, kind: k.wait, most: -1}
			named[n] = c
			out.all = append(out.all, c)
		}
		c.places[k] = true
		c.merge(t)
		out.sum += t.Time
		if t.Time > c.most || t.Time == c.most && k.stack < c.site {
			c.most, c.site, c.class = t.Time, k.stack, k.class
		}
	}
	slices.SortFunc(out.all, (*contended).compare)
	out.all = oneEach(out.all)
	slices.SortFunc(out.all, (*contended).compare)
	for _, c := range out.all {
		for at := range c.places {
			out.of[at] = c
		}
	}
	return out
}

// subject is what waits are for.
type subject struct {
	class        uint32
	text, caller string
	kind         jvmthread.Wait
}

// subject returns what threads wait for at a place.
func (q *query) subject(at place) subject {
	site, class := q.sn.Site(at.stack), q.sn.Classes[at.class]
	n := subject{class: at.class, text: wording.Object(at.wait, class, site.Lock, site.Entry), kind: at.wait}
	switch {
	case at.wait == jvmthread.WaitPool:
		n.class = 0 // a pool is one, whatever the classes it uses to wait
	case wording.IsBin(class):
		n.class = 0 // a map is one
		if site.Lock == "" {
			n.caller = site.Function
		}
	case at.wait == jvmthread.WaitFuture, at.wait == jvmthread.WaitJoin: // each task and each thread is another one
		n.class, n.text, n.caller = 0, "", site.Function
	case (n.text != site.Lock || n.text == "") && !wording.IsInitialization(n.text) && strings.HasPrefix(class, "java.util."):
		n.caller = site.Function // of one's own locks of the JDK, the class says nothing
	}
	return n
}

// compare orders what cost more first.
func (c *contended) compare(o *contended) int {
	return cmp.Or(cmp.Compare(o.Time, c.Time), cmp.Compare(c.name, o.name), cmp.Compare(c.caller, o.caller), cmp.Compare(c.class, o.class), cmp.Compare(c.kind, o.kind))
}

// title is the name that distinguishes locks of the JDK: "ReentrantLock of Inventory.reserve".
func (c *contended) title() string { return wording.LockOf(c.name, c.caller) }

// oneEach joins locks that have an object in common: threads may wait for one lock in several places, and the two locks of a read-write lock are one. It is
// called what it is called where threads waited longest, but a name in the source comes before that of a class.
func oneEach(all []*contended) (out []*contended) {
	first := map[int]*contended{} // by object
	for _, c := range all {
		var same *contended
		for _, lock := range c.monitors.List() {
			if o := first[lock]; o != nil && o.kind == c.kind {
				same = o
				break
			}
		}
		if same == nil {
			out = append(out, c)
			same = c
		} else {
			same.join(c)
		}
		for _, lock := range c.monitors.List() {
			if first[lock] == nil {
				first[lock] = same
			}
		}
	}
	return out
}

func (c *contended) join(o *contended) {
	whole := wording.WholeLock(c.name)
	switch {
	case whole == wording.WholeLock(o.name):
		c.name = whole
	case c.caller != "" && o.caller == "":
		c.name, c.caller = o.name, ""
	}
	c.merge(&o.waits)
	for at := range o.places {
		c.places[at] = true
	}
}

// answer returns what costs the most.
func (q *query) answer() (any, *Problem) {
	sel := q.selected()
	rows := int(q.number("costs", 0, 0, 100))
	if p := q.done(); p != nil {
		return nil, p
	}
	found := q.contention(sel)
	out := viewapi.Answer{From: q.rel(q.from), To: q.rel(q.to), Time: found.sum, Total: len(found.all)}
	top, second := q.top(sel, found)
	open := q.openWaits()
	for _, w := range open {
		if w.verdict != stuck.Free {
			out.Stuck++
		}
	}
	if top != nil {
		out.Most = q.cost(found, top, open)
	}
	if second != nil && !q.isSmall(int64(second.waits.waited)) {
		if cost := q.cost(found, second, open); cost.Stuck > 0 || cost.Time >= out.Most.Time/secondPart {
			out.Second = cost
		}
	}
	if out.Most == nil || q.isSmall(out.Most.Time) {
		out.Small = out.Most != nil
		out.Text = q.quiet(sel, &out, open)
	} else {
		out.Text = wording.Costs(out.Most, out.Second)
	}
	out.Pauses = q.pauseSums()
	out.Text = wording.Paused(out.Text, out.Pauses, int64(q.to-q.from))
	out.Costs = q.costRows(sel, found.all[:min(rows, len(found.all))])
	return out, nil
}

// quiet says what threads did if they hardly waited for others. Waits for a notification that can no longer come are not a rest.
func (q *query) quiet(sel selection, out *viewapi.Answer, open map[int]*openWait) []viewapi.Part {
	if d := q.dumps(nil, nil); d != nil {
		return wording.QuietDumps(q.largestKind(sel), d)
	}
	if cost, endless := q.lullCost(sel, open); endless {
		out.Most, out.Small = cost, false
		return wording.Costs(cost, nil)
	} else if cost != nil {
		return wording.Lull(cost)
	}
	return wording.Quiet(out.Most, q.largestKind(sel), q.sn.Meta["weft.recording.format"] == "jfr" && !q.knowsOpen())
}

// lullCost returns what a lull cost, or nil, and whether most of it is waits that no thread can end any more.
func (q *query) lullCost(sel selection, open map[int]*openWait) (cost *viewapi.Cost, endless bool) {
	lull := q.lull(sel)
	if lull == nil || q.isSmall(int64(lull.waits.waited)) {
		return nil, false
	}
	cost = q.costOfOthers(lull, open)
	return cost, cost.Stuck > 0 && cost.Pending*2 >= cost.Time
}

// knowsOpen reports whether the history knows waits that have not ended: a flight recording does if it has a thread dump.
func (q *query) knowsOpen() bool {
	for i := range q.sn.Threads {
		if iv, ok := q.sn.At(i, q.to-1); ok && iv.Wait != jvmthread.WaitNone && iv.End >= q.to {
			return true
		}
	}
	return false
}

// costRows returns the sums of locks.
func (q *query) costRows(sel selection, all []*contended) []viewapi.CostRow {
	out := make([]viewapi.CostRow, 0, len(all))
	if len(all) == 0 {
		return out
	}
	handoffs := map[uint32]int{}
	rows := q.lockRows(sel, func(store.LockIndex) bool { return true })
	for i := range rows {
		handoffs[rows[i].Lock.ID] = rows[i].Handoffs
	}
	for i, waits := range q.lockWaits(sel, all) {
		row := q.costRow(all[i])
		row.Held = int64(q.longestHold(waits))
		for _, lock := range all[i].monitors.List() {
			row.Handoffs += handoffs[uint32(lock)]
		}
		out = append(out, row)
	}
	return out
}

func (q *query) costRow(c *contended) viewapi.CostRow {
	locks := c.monitors.List()
	row := viewapi.CostRow{
		Name: c.name, Caller: c.caller, Class: q.sn.Classes[c.class], Kind: c.kind.String(), Locks: len(locks), Time: c.Time, Count: c.Count, Longest: c.Max, Threads: c.threads.Len(),
	}
	if len(locks) == 1 {
		row.Lock = uint32(locks[0])
	}
	return row
}
