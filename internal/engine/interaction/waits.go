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

// waited takes the thread from the wait set and binds what woke it: the end of the joined thread, a notify or an interrupt. If the thread
// timed out, the notify bound to it went to the next waiter.
func (b *Binder) waited(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	l := me.lock
	if l == nil {
		return out // the wait began before history does
	}
	me.lock = nil
	l.touched = ev.Time
	w := l.remove(ev.Thread)
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		if w.notified.from.Seq != jvmthread.NoSeq && !w.all {
			l.markAgain(w.notified)
		}
		b.timedOut(l, w, closed)
		return out
	}
	if closed.State == jvmthread.StateJoining {
		if th := b.timeline.Thread(closed.Peer); th != nil && th.Dead() {
			dead := th.Open() // what it ended in is before it: it ran, unless something was missed
			c := cause{from: jvmthread.IntervalRef{Thread: closed.Peer, Seq: dead.Seq - 1}, time: dead.Start}
			return bind(c, jvmthread.InteractionJoin, closed, ev.Time, out)
		}
		if ev.Peer != jvmthread.NoThread {
			return bind(b.releaseBy(ev.Peer, ev.Time), jvmthread.InteractionJoin, closed, ev.Time, out)
		}
	}
	if ev.Peer != jvmthread.NoThread {
		w = b.notifiedBy(l, ev, w)
	}
	if w.notified.from.Seq == jvmthread.NoSeq {
		if _, ok := b.interrupts[ev.Thread]; !ok && ev.Flags&jvmthread.FlagLateNotify != 0 && len(l.woken) < maxWoken {
			l.woken = append(l.woken, *closed)
			return out
		}
		return b.interrupted(ev, closed, out) // HotSpot has no spurious wake-ups
	}
	me.notified, me.back = w.notified.time, true
	kind := jvmthread.InteractionNotify
	if w.all {
		kind = jvmthread.InteractionNotifyAll
	}
	n := len(out)
	if out = bind(w.notified, kind, closed, ev.Time, out); len(out) > n {
		out[n].Confidence = w.sure
	}
	return out
}

// maxWoken bounds the waits of one lock that are kept for a late notify.
const maxWoken = 64

// bindLate binds a notify to the first wait that ended before it without a visible cause, a notifyAll to all such waits.
func (l *lock) bindLate(c cause, all bool, out []jvmthread.Interaction) []jvmthread.Interaction {
	kind, n := jvmthread.InteractionNotify, min(1, len(l.woken))
	if all {
		kind, n = jvmthread.InteractionNotifyAll, len(l.woken)
	}
	for i := range n {
		iv := &l.woken[i]
		before := len(out)
		if out = bind(c, kind, iv, iv.End, out); len(out) > before {
			out[before].Confidence = jvmthread.ConfidenceAmbiguous
		}
	}
	l.woken = append(l.woken[:0], l.woken[n:]...)
	return out
}

// markAgain passes a notify that missed its waiter to the next thread that was waiting at the time. This is likely, but not certain.
func (l *lock) markAgain(c cause) {
	for i := range l.waiters {
		w := &l.waiters[i]
		if w.notified.from.Seq == jvmthread.NoSeq && w.since <= c.time {
			w.notified, w.sure = c, jvmthread.ConfidenceAmbiguous
			return
		}
	}
}

// waitReturned binds the handoff of the monitor that the thread owns again. After a notify, the notifier held the monitor, or the thread that
// got it from the notifier. After a timeout the monitor may have been free; if not, there was a contended entry.
func (b *Binder) waitReturned(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	notified, ok := me.notified, me.back
	me.back = false
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return out
	}
	how := gotIt
	if ok && closed.State == jvmthread.StateReentering && l.seen >= notified {
		how |= waitedFor
		out = b.handoff(l, closed, notified, ev.Time, out)
	}
	b.own(l, ev.Thread, ev.Time, how)
	return out
}
