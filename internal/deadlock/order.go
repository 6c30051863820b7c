// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package deadlock

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Hint is a deadlock that waits to happen: one thread held First and had to wait for Second, another one held Second and had to wait for
// First, at different times.
type Hint struct {
	First, Second jvmthread.LockID
	Holder        jvmthread.ThreadID // held First, waited for Second
	Other         jvmthread.ThreadID // held Second, waited for First
	Before, At    jvmthread.Time     // when the one was seen, and when the other
}

// Bounds of what is remembered of the order of locks.
const (
	maxOrders    = 1 << 16 // pairs of locks; with more all are forgotten and counted
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
	contended map[jvmthread.ThreadID][]jvmthread.LockID // locks for which somebody had to wait, by owner
	hints     []Hint
}

// order looks at a thread that begins to be blocked on a lock of an owner. It proves that the owner holds the lock: if the owner itself is
// blocked on another one, it wants that one while it holds this. And what others wait for from the blocking thread, that it holds.
func (d *Detector) order(ev *jvmthread.Event) {
	o := &d.orders
	if len(o.contended) > 0 {
		d.holdsWhileBlocked(ev)
	}
	if ev.Peer == jvmthread.NoThread || ev.Peer == ev.Thread {
		return
	}
	if list := o.contended[ev.Peer]; len(list) < maxContended && !slices.Contains(list, ev.Lock) {
		o.contended[ev.Peer] = append(list, ev.Lock)
	}
	if th := d.timeline.Thread(ev.Peer); th != nil {
		if open := th.Open(); open.State == jvmthread.StateBlocked && open.Lock != ev.Lock {
			d.sight(pair{held: ev.Lock, wanted: open.Lock}, ev.Peer, ev.Time)
		}
	}
}

// holdsWhileBlocked looks at the locks that others wait for from the blocking thread.
func (d *Detector) holdsWhileBlocked(ev *jvmthread.Event) {
	list, ok := d.orders.contended[ev.Thread]
	if !ok {
		return
	}
	kept := list[:0]
	for _, held := range list {
		if held != ev.Lock && d.binder.Owner(held) == ev.Thread && d.binder.Blocked(held) > 0 {
			kept = append(kept, held)
			d.sight(pair{held: held, wanted: ev.Lock}, ev.Thread, ev.Time)
		}
	}
	if len(kept) == 0 {
		delete(d.orders.contended, ev.Thread)
		return
	}
	d.orders.contended[ev.Thread] = kept
}

// sight notes that a thread holds one lock and wants another, and makes a hint if another thread did it the other way round. Each pair is
// hinted at once.
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

// TakeHints appends the hints that are new since it was last called.
func (d *Detector) TakeHints(out []Hint) []Hint {
	out = append(out, d.orders.hints...)
	d.orders.hints = d.orders.hints[:0]
	return out
}

// Expire forgets which threads' locks were waited for, of threads that are not known any more.
func (d *Detector) Expire() {
	for id := range d.orders.contended {
		if d.timeline.Thread(id) == nil {
			delete(d.orders.contended, id)
		}
	}
}
