// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package deadlock

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Hint is a potential deadlock: one thread held First and had to wait for Second, another held Second and had to wait for First, at
// different times.
type Hint struct {
	First, Second jvmthread.LockID
	Holder        jvmthread.ThreadID // held First, waited for Second
	Other         jvmthread.ThreadID // held Second, waited for First
	Before, At    jvmthread.Time     // when the first and the second order were seen
}

// Limits of the stored lock orders.
const (
	maxOrders    = 1 << 16 // pairs of locks; over this limit all are dropped, which is counted
	maxContended = 16      // locks of one thread that others wait for
)

type pair struct{ held, wanted jvmthread.LockID }

type sighting struct {
	thread  jvmthread.ThreadID // that was seen first
	at      jvmthread.Time
	several bool // other threads were seen too
	hinted  bool
}

// orders knows in which order threads took two locks, as far as contention proves that the first one was still held.
type orders struct {
	seen      map[pair]sighting
	contended []contended // by the thread's slot
	hints     []Hint
}

// contended lists the locks of a thread for which other threads had to wait.
type contended struct {
	owner jvmthread.ThreadID
	locks []jvmthread.LockID
}

// of returns the contended locks of a thread. It is valid until the next call.
func (o *orders) of(th *timeline.Thread) *contended {
	for th.Slot() >= len(o.contended) {
		o.contended = append(o.contended, contended{})
	}
	c := &o.contended[th.Slot()]
	if id := th.Open().Thread; c.owner != id { // the slot was used by a thread that is forgotten
		c.owner, c.locks = id, c.locks[:0]
	}
	return c
}

// order records the lock orders that a blocking thread proves. The owner holds the lock; if the owner is itself blocked on another lock, it
// wants that one while holding this one. And the blocking thread holds the locks for which others wait.
func (d *Detector) order(ev *jvmthread.Event) {
	if th := d.timeline.Thread(ev.Thread); th != nil {
		d.holdsWhileBlocked(ev, d.orders.of(th))
	}
	owner := d.timeline.Thread(ev.Peer)
	if owner == nil || ev.Peer == ev.Thread {
		return
	}
	if c := d.orders.of(owner); len(c.locks) < maxContended && !slices.Contains(c.locks, ev.Lock) {
		c.locks = append(c.locks, ev.Lock)
	}
	if open := owner.Open(); open.Wait == jvmthread.WaitLock && open.Lock != ev.Lock {
		d.sight(pair{held: ev.Lock, wanted: open.Lock}, ev.Peer, ev.Time)
	}
}

// holdsWhileBlocked records the orders of the locks that the blocking thread holds while others wait for them.
func (d *Detector) holdsWhileBlocked(ev *jvmthread.Event, c *contended) {
	kept := c.locks[:0]
	for _, held := range c.locks {
		if owner, blocked := d.binder.Owner(held); held != ev.Lock && owner == ev.Thread && blocked > 0 {
			kept = append(kept, held)
			d.sight(pair{held: held, wanted: ev.Lock}, ev.Thread, ev.Time)
		}
	}
	c.locks = kept
}

// sight records that a thread holds one lock and wants another, and adds a hint if another thread did so in the opposite order. Each pair
// gets one hint.
func (d *Detector) sight(p pair, thread jvmthread.ThreadID, at jvmthread.Time) {
	o := &d.orders
	if len(o.seen) >= maxOrders {
		clear(o.seen)
		d.counters.OrdersForgotten++
	}
	mine, known := o.seen[p]
	if known && (mine.hinted || mine.several || mine.thread == thread) {
		return
	}
	if known {
		mine.several = true
	} else {
		mine = sighting{thread: thread, at: at}
	}
	back := pair{held: p.wanted, wanted: p.held}
	other, ok := o.seen[back]
	if !ok || other.hinted || other.thread == thread && !other.several {
		o.seen[p] = mine
		return
	}
	other.hinted, mine.hinted = true, true
	o.seen[back], o.seen[p] = other, mine
	o.hints = append(o.hints, Hint{
		First: back.held, Second: back.wanted, Holder: other.thread, Other: thread, Before: other.at, At: at,
	})
}

// TakeHints returns the hints added since the previous call, except those that may yet turn out to be a deadlock, unless the JVM has ended.
func (d *Detector) TakeHints(ended bool) (out []Hint) {
	kept := d.orders.hints[:0]
	for _, h := range d.orders.hints {
		if !ended && slices.ContainsFunc(d.suspects, h.within) {
			kept = append(kept, h)
		} else {
			out = append(out, h)
		}
	}
	d.orders.hints = kept
	return out
}

// within reports whether both threads are in a cycle.
func (h *Hint) within(f Found) bool {
	has := func(id jvmthread.ThreadID) bool {
		return slices.ContainsFunc(f.Members, func(m jvmthread.IntervalRef) bool { return m.Thread == id })
	}
	return has(h.Holder) && has(h.Other)
}

// Expire drops the contended locks of threads that are no longer known.
func (d *Detector) Expire() {
	for i := range d.orders.contended {
		if c := &d.orders.contended[i]; d.timeline.Thread(c.owner) == nil {
			*c = contended{}
		}
	}
}
