// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// waiting is the progress of a thread through a wait.
type waiting struct {
	thread   jvmthread.ThreadID
	lock     *lock          // the thread is in its wait set; nil: in none
	notified jvmthread.Time // when the thread was notified
	back     bool           // the thread was notified and is reentering
	shares   []*lock        // of which the thread held a permit or an object when it was last seen to get one
	began    jvmthread.Time // end of its last wait for a task, a permit or an object of a pool
	next     awaited
}

// waiting returns the progress of a thread. It is valid until the next call.
func (b *Binder) waiting(th *timeline.Thread) *waiting {
	slot := th.Slot()
	for slot >= len(b.waits) {
		b.waits = append(b.waits, waiting{})
	}
	w := &b.waits[slot]
	if id := th.Open().Thread; w.thread != id { // the slot was used by a thread that is forgotten
		*w = waiting{thread: id}
	}
	return w
}

// wait puts the thread into the wait set; the wait releases the lock.
func (b *Binder) wait(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval) {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	if me.lock != nil {
		me.lock.remove(ev.Thread)
	}
	b.released(l, closed, l.othersBlocked(0), 0)
	l.seen = ev.Time
	l.waiters = append(l.waiters, waiter{thread: ev.Thread, since: ev.Time})
	me.lock = l
}

// waited takes the thread from the wait set and binds what woke it: the end of the joined thread, a notify or an interrupt. If the thread
// timed out, the notify bound to it went to the next waiter.
func (b *Binder) waited(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval) {
	l := me.lock
	if l == nil {
		return // the wait began before history does
	}
	me.lock = nil
	l.touched = ev.Time
	w := l.remove(ev.Thread)
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		if w.notified.known() && !w.all {
			l.markAgain(w.notified)
		}
		return
	}
	if closed.State == jvmthread.StateJoining {
		if th := b.timeline.Thread(closed.Peer); th != nil && th.Dead() {
			dead := th.Open() // what it ended in is before it: it ran, unless something was missed
			c := cause{from: jvmthread.IntervalRef{Thread: closed.Peer, Seq: dead.Seq - 1}, time: dead.Start}
			b.bind(c, jvmthread.InteractionJoin, closed, ev.Time)
			return
		}
		if ev.Peer != jvmthread.NoThread {
			b.bind(b.releaseBy(ev.Peer, ev.Time), jvmthread.InteractionJoin, closed, ev.Time)
			return
		}
	}
	if ev.Peer != jvmthread.NoThread {
		w = b.notifiedBy(l, ev, w)
	}
	if !w.notified.known() {
		if _, ok := b.interrupts[ev.Thread]; !ok && ev.Flags&jvmthread.FlagLateNotify != 0 && len(l.woken) < maxWoken {
			l.woken = append(l.woken, *closed)
		} else {
			b.interrupted(ev, closed) // HotSpot has no spurious wake-ups
		}
		return
	}
	me.notified, me.back = w.notified.time, true
	kind := jvmthread.InteractionNotify
	if w.all {
		kind = jvmthread.InteractionNotifyAll
	}
	b.bind(w.notified, kind, closed, ev.Time)
}

// waitReturned binds the handoff of the monitor that the thread owns again. After a notify, the notifier held the monitor, or the thread that
// got it from the notifier. After a timeout the monitor may have been free; if not, there was a contended entry.
func (b *Binder) waitReturned(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval) {
	notified, ok := me.notified, me.back
	me.back = false
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	how := gotIt
	if ok && closed.State == jvmthread.StateReentering && l.seen >= notified {
		how |= waitedFor
		b.handoff(l, closed, notified, ev.Time)
	}
	b.own(l, ev.Thread, ev.Time, how)
}
