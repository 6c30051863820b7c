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

// woken binds the event that made a parked virtual thread ready to run. closed is the interval that it ended, th the thread of the event.
func (p *parks) woken(ev *jvmthread.Event, th, woken *timeline.Thread, closed *jvmthread.Interval) {
	c := here(ev, th)
	switch {
	case ev.Flags&jvmthread.FlagTimedOut != 0:
		c = cause{}
		delete(p.causes.unparks, closed.Thread)
	case ev.Kind == jvmthread.KindInterruptCalled:
		p.wakeUp(c, jvmthread.InteractionInterrupt, woken, closed)
		return
	default:
		p.releases(c, th, closed)
	}
	p.wokeUp(c, woken, closed)
}

// wokeUp binds the unpark that made a virtual thread ready to run.
func (p *parks) wokeUp(c cause, th *timeline.Thread, closed *jvmthread.Interval) {
	kind := jvmthread.InteractionUnpark
	if closed.Wait.Contended() {
		kind = jvmthread.InteractionHandoff
	}
	p.wakeUp(c, kind, th, closed)
	if c.known() && closed.Wait.Contended() {
		p.waits.of(th).next = awaited{closed.Lock, closed.Wait}
	}
}

func (p *parks) wakeUp(c cause, kind jvmthread.InteractionKind, th *timeline.Thread, closed *jvmthread.Interval) {
	delete(p.causes.unparks, closed.Thread)
	if returns(closed.Wait) {
		p.waits.of(th).began = closed.End
	}
	p.causes.bind(c, kind, closed, closed.End)
}

// resumed records that a virtual thread runs again, and has what it waited for. It has consumed the permit of any further unpark.
func (p *parks) resumed(th *timeline.Thread, at jvmthread.Time) {
	me := p.waits.of(th)
	delete(p.causes.unparks, me.thread)
	next := me.next
	me.next = awaited{}
	l := p.owners.find(next.lock)
	if next.wait == jvmthread.WaitNone || l == nil {
		return
	}
	l.touched = at
	if next.wait == jvmthread.WaitLock {
		p.owners.own(l, me.thread, at, gotIt|waitedFor)
	} else {
		me.share(l, at)
	}
}
