// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// locks adds the lock statistics of a window.
func (a *Account) locks(w *window.Window) {
	if a.said { // the maxima of earlier windows: until now there were no newer ones
		a.said = false
		a.classes.each(func(c *Class) { c.Waiters, c.Chain = 0, 0 })
	}
	for i := range w.Locks {
		l := &w.Locks[i]
		c := &a.classes.get(l.Class).Value
		c.Contended = c.Contended || l.Contentions > 0 || l.Blocked > 0
		c.Handoffs += l.Handoffs
		c.Waiters = max(c.Waiters, l.Waiters)
		c.Chain = max(c.Chain, l.Run.Handoffs)
		rest := l.Held
		for s, d := range l.Holders {
			plus(&c.Held[s], d)
			rest -= d
		}
		plus(&c.Held[jvmthread.StateUnknown], rest)
	}
	for i := range w.Holds {
		h := &w.Holds[i]
		if over := h.Marks&jvmthread.HoldSoFar == 0 || w.Cut.Last(); over && h.End > h.Start {
			a.hold(w, h)
		}
	}
	for i := range w.Hints {
		h := &w.Hints[i]
		a.orders.get(OrderKey{h.First.Class, h.Second.Class}).Value++
	}
	for i := range w.LostNotifies {
		a.classes.get(w.LostNotifies[i].Lock.Class).Value.LostNotifies++
	}
}

// hold adds a hold that ended or is part of the last window.
func (a *Account) hold(w *window.Window, hold *jvmthread.Hold) {
	s := a.classes.get(hold.Lock.Class)
	h := a.histogram(&s.Value.Holds, &s.cost, s.Overflow)
	if h == nil {
		h = a.histogram(&a.classes.spill(hold.Lock.Class).Value.Holds, nil, true)
	}
	d := hold.End.Sub(hold.Start)
	h.add(d, a.cfg)
	if a.cfg.Exemplars > 0 && hold.End >= w.Start && h.wants(d, a.cfg.Exemplars) {
		ref := jvmthread.IntervalRef{Thread: hold.Thread}
		if t, ok := w.Target(ref, w.Start); ok {
			h.keep(Exemplar{Duration: d, At: hold.End, Window: t.Window, Ref: ref}, a.cfg.Exemplars)
		}
	}
}

// path adds the critical path of a window.
func (a *Account) path(w *window.Window) {
	v := w.Verdict
	if v == nil {
		return
	}
	plus(&a.totals.Value.Path, time.Duration(v.Path.End-v.Path.Start))
	for i := range v.Shares {
		if g := &v.Shares[i]; g.Group.Kind.Contended() {
			plus(&a.classes.get(g.Group.Lock.Class).Value.Path, time.Duration(g.Time))
		}
	}
	for i := range v.Savings {
		s := &v.Savings[i]
		c := &a.classes.get(s.Lock.Class).Value
		plus(&c.Saved, time.Duration(s.Drag))
		plus(&c.Bound, time.Duration(s.Bound))
	}
}

// site returns the method that waits.
func (a *Account) site(id jvmthread.StackID) Text {
	t, ok := a.sites[id]
	if !ok {
		t = a.pools.Intern(a.rules.Site(id).Function)
		a.sites[id] = t // the number of stacks per session is limited
	}
	return t
}

// pool returns the thread pool of a thread, or NoText if pools are not separated.
func (a *Account) pool(id jvmthread.ThreadID) Text {
	if !a.cfg.ThreadPools {
		return NoText
	}
	return a.pools.Of(id)
}

// Text returns the text with the given number.
func (a *Account) Text(id Text) string { return a.pools.Text(id) }
