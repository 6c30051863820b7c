// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// waited takes the thread from the wait set and binds what woke it: the end of the joined thread, or a notify. A thread that timed out
// was not woken by the notify that it was thought to have got: the next waiter got it.
func (b *Binder) waited(ev jvmthread.Event, closed jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	l := b.waits[ev.Thread]
	if l == nil {
		return out // the wait began before history does
	}
	delete(b.waits, ev.Thread)
	l.touched = ev.Time
	w := l.remove(ev.Thread)
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		if w.notified.from.Seq != jvmthread.NoSeq && !w.all {
			l.markAgain(w.notified)
		}
		return out
	}
	if closed.State == jvmthread.StateJoining {
		if th := b.timeline.Thread(closed.Peer); th != nil && th.Dead() {
			end := th.LastRun()
			c := cause{from: jvmthread.IntervalRef{Thread: closed.Peer, Seq: end.Seq}, time: th.Open().Start}
			return bind(c, jvmthread.InteractionJoin, closed, ev.Time, out)
		}
	}
	if w.notified.from.Seq == jvmthread.NoSeq {
		b.woken[ev.Thread] = wakeUp{interval: closed} // by an interrupt, or by nothing: waitReturned will tell
		return out
	}
	b.woken[ev.Thread] = wakeUp{interval: closed, notified: w.notified.time}
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

// markAgain gives a notify that missed its waiter to the next one; that it is the next is likely and not certain.
func (l *lock) markAgain(c cause) {
	for i := range l.waiters {
		w := &l.waiters[i]
		if w.notified.from.Seq == jvmthread.NoSeq {
			w.notified, w.sure = c, jvmthread.ConfidenceAmbiguous
			return
		}
	}
}

// waitReturned tells whether the wait was interrupted, and who held the monitor that the thread now owns again: after a notify the
// notifier did, and whoever got it from there. After a time-out nobody need have held it; if somebody did, a contended entry told so.
func (b *Binder) waitReturned(ev jvmthread.Event, closed jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	w, ok := b.woken[ev.Thread]
	delete(b.woken, ev.Thread)
	l := b.lock(ev.Lock, ev.Time)
	how := gotIt
	switch {
	case ok && w.notified == jvmthread.NoTime && ev.Flags&jvmthread.FlagInterrupted != 0:
		out = b.interrupted(ev, w.interval, out)
	case ok && w.notified == jvmthread.NoTime:
		b.counters.WakeUpsUnbound++
	case ok && l != nil && closed.State == jvmthread.StateReentering && l.seen >= w.notified:
		how |= waitedFor
		out = b.handoff(l, closed, w.notified, ev.Time, out)
	}
	if l != nil {
		b.own(l, ev.Thread, ev.Time, how)
	}
	return out
}
