// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// more holds what only some agents report.
type more struct {
	detail  jvmthread.Detail      // of the open interval
	closed  jvmthread.Detail      // of the interval closed last
	current jvmthread.SpanContext // the application's span
	reading Reading               // the last one
	queue   queueReading          // for the next one
	used    jvmthread.Usage       // between the last two
	under   jvmthread.Interval    // the interval that a suspend interrupted
}

// known returns more for writing.
func (t *Thread) known() *more {
	if t.more == nil {
		t.more = new(more)
	}
	return t.more
}

// forget drops what may have changed in a gap.
func (t *Thread) forget() {
	if t.more != nil {
		t.more.current, t.more.reading = jvmthread.SpanContext{}, Reading{}
	}
}

// Detail returns the details of the open interval, or nil. It is valid until the thread's next event.
func (t *Thread) Detail() *jvmthread.Detail {
	if t.more == nil {
		return nil
	}
	return &t.more.detail
}

// ClosedDetail returns the details of the interval closed last, or nil.
func (t *Thread) ClosedDetail() *jvmthread.Detail {
	if t.more == nil {
		return nil
	}
	return &t.more.closed
}

// awaitsOwner has the states in which a thread waits for another to release a lock.
const awaitsOwner = set(1<<jvmthread.StateBlocked | 1<<jvmthread.StateParked | 1<<jvmthread.StateDeadlocked)

// Span returns the application's span that is current on the thread; zero: none, or not known.
func (t *Thread) Span() jvmthread.SpanContext {
	if t.more == nil {
		return jvmthread.SpanContext{}
	}
	return t.more.current
}

// describe records the details that an event carries.
func (t *Timeline) describe(th *Thread, ev *jvmthread.Event) {
	switch ev.Kind {
	case jvmthread.KindContext:
		th.known().current = ev.Span
	case jvmthread.KindGap:
		th.forget()
	case jvmthread.KindContendedEnter, jvmthread.KindPark:
		if owner := t.Thread(ev.Peer); owner != nil && owner != th && owner.more != nil {
			th.known().detail.OwnerSpan = owner.more.current
		}
	case jvmthread.KindOwnerContext: // the owner may not have reported it itself
		if awaitsOwner.has(th.open.State) {
			th.known().detail.OwnerSpan = ev.Span
		}
	case jvmthread.KindOwnerStack:
		if awaitsOwner.has(th.open.State) {
			th.known().detail.OwnerStack = ev.Stack
		}
	case jvmthread.KindRunning:
		if th.on.carrier == jvmthread.NoThread && ev.Peer != jvmthread.NoThread { // it was mounted before its first event
			th.on.carrier, th.on.since = ev.Peer, ev.Time-jvmthread.Time(max(0, ev.Arg))
			t.carry(ev.Peer, ev.Thread)
		}
		if th.open.State == jvmthread.StateRunnable {
			th.open.Stack = ev.Stack
		}
	case jvmthread.KindRunQueue:
		th.known().queue = queueReading{ev.Time, ev.Arg, true}
	case jvmthread.KindCPU:
		th.known().read(&th.open, ev)
	}
}
