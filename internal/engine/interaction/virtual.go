// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A virtual thread that is unparked does not run yet: it waits for a carrier. So the unpark itself ends its park, and it takes the lock for
// which it was parked when it has a carrier.

// awaited is the lock that a queued virtual thread takes when it runs.
type awaited struct {
	lock jvmthread.LockID
	wait jvmthread.Wait // WaitNone: it takes none
}

// startCalled binds the start of a virtual thread, which is ready to run from here on, or remembers it until the thread starts to run.
func (b *Binder) startCalled(ev *jvmthread.Event, th *timeline.Thread) {
	if ev.Flags&jvmthread.FlagVirtualPeer != 0 {
		if target := b.timeline.Thread(ev.Peer); target != nil && target.Open().State == jvmthread.StateQueued && target.Open().Seq == 1 &&
			target.Open().Start == ev.Time { // else a second call, which throws
			b.bind(here(ev, th), jvmthread.InteractionStart, target.Open(), ev.Time)
			return
		}
	}
	b.remember(b.starts, ev, th)
}

// unparkCalled records a release, and the cause of the end of a park that has not ended yet. Of several causes, the first one counts: there is
// one permit. A virtual thread consumes it unseen, so its last one counts.
func (b *Binder) unparkCalled(ev *jvmthread.Event, th *timeline.Thread) {
	b.unpark(ev, th)
	_, pending := b.unparks[ev.Peer]
	virtual := ev.Flags&jvmthread.FlagVirtualPeer != 0
	b.unparksSeen = b.unparksSeen || !virtual
	switch {
	case ev.Flags&jvmthread.FlagTimedOut != 0: // it is the timeout itself
	case virtual || !pending:
		b.remember(b.unparks, ev, th)
	}
}

// Woken binds the event that made a parked virtual thread ready to run. closed is the interval that it ended, th the thread of the event. It
// returns the interactions of the event: those of Apply, which must be called before, and the new ones.
func (b *Binder) Woken(ev *jvmthread.Event, th, woken *timeline.Thread, closed *jvmthread.Interval) []jvmthread.Interaction {
	c := here(ev, th)
	if closed.Wait.Contended() || contradicted(closed) {
		b.unblocked(closed.Lock, ev.Time)
	}
	switch {
	case ev.Flags&jvmthread.FlagTimedOut != 0:
		c = cause{}
		delete(b.unparks, closed.Thread)
	case ev.Kind == jvmthread.KindInterruptCalled:
		b.wakeUp(c, jvmthread.InteractionInterrupt, woken, closed)
		return b.bound
	default:
		b.releases(ev, th, closed)
	}
	b.wokeUp(c, woken, closed)
	return b.bound
}

// wokeUp binds the unpark that made a virtual thread ready to run.
func (b *Binder) wokeUp(c cause, th *timeline.Thread, closed *jvmthread.Interval) {
	kind := jvmthread.InteractionUnpark
	if closed.Wait.Contended() {
		kind = jvmthread.InteractionHandoff
	}
	b.wakeUp(c, kind, th, closed)
	if c.known() && closed.Wait.Contended() {
		b.waiting(th).next = awaited{closed.Lock, closed.Wait}
	}
}

func (b *Binder) wakeUp(c cause, kind jvmthread.InteractionKind, th *timeline.Thread, closed *jvmthread.Interval) {
	delete(b.unparks, closed.Thread)
	if returns(closed.Wait) {
		b.waiting(th).began = closed.End
	}
	b.bind(c, kind, closed, closed.End)
}

// resumed records that a virtual thread runs again, and has what it waited for. It has consumed the permit of any further unpark.
func (b *Binder) resumed(ev *jvmthread.Event, th *timeline.Thread) {
	delete(b.unparks, ev.Thread)
	me := b.waiting(th)
	next := me.next
	me.next = awaited{}
	l := b.find(next.lock)
	if next.wait == jvmthread.WaitNone || l == nil {
		return
	}
	l.touched = ev.Time
	if next.wait == jvmthread.WaitLock {
		b.own(l, ev.Thread, ev.Time, gotIt|waitedFor)
	} else {
		b.share(l, th, ev.Time)
	}
}
