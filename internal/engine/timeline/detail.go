// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// more is what is known of few threads: many agents are not asked for it.
type more struct {
	detail  jvmthread.Detail      // of the open interval
	closed  jvmthread.Detail      // of the interval closed last
	current jvmthread.SpanContext // the application's span
	cpu     int64                 // what the thread has used so far; 0: not told
	under   jvmthread.Interval    // what it was doing when it was suspended
}

// known returns where to write what is known besides.
func (t *Thread) known() *more {
	if t.more == nil {
		t.more = new(more)
	}
	return t.more
}

// forget drops what may have changed unseen: another span may have become current.
func (t *Thread) forget() {
	if t.more != nil {
		t.more.current, t.more.cpu = jvmthread.SpanContext{}, 0
	}
}

// Detail is what is known besides of the open interval, nil if nothing is. It is good until the thread's next event.
func (t *Thread) Detail() *jvmthread.Detail {
	if t.more == nil {
		return nil
	}
	return &t.more.detail
}

// ClosedDetail is the same of the interval that was closed last.
func (t *Thread) ClosedDetail() *jvmthread.Detail {
	if t.more == nil {
		return nil
	}
	return &t.more.closed
}

// describe takes what an event says beyond the states of threads.
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
	case jvmthread.KindOwnerStack:
		if th.open.State == jvmthread.StateBlocked || th.open.State == jvmthread.StateParked {
			th.known().detail.OwnerStack = ev.Stack
		}
	case jvmthread.KindCPU:
		sinceStart := th.open.Seq == 1 && !th.open.Marks.Has(jvmthread.MarkPartial)
		m := th.known()
		if (m.cpu > 0 || sinceStart) && ev.Arg >= m.cpu && th.open.State == jvmthread.StateRunnable {
			m.detail.CPU, m.detail.HasCPU = ev.Arg-m.cpu, true
		}
		m.cpu = ev.Arg
	}
}
