// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// Detail is what is known besides of the open interval. It is good until the thread's next event.
func (t *Thread) Detail() *jvmthread.Detail { return &t.detail }

// ClosedDetail is the same of the interval that was closed last.
func (t *Thread) ClosedDetail() *jvmthread.Detail { return &t.closed }

// describe takes what an event says beyond the states of threads.
func (t *Timeline) describe(th *Thread, ev *jvmthread.Event) {
	switch ev.Kind { //nolint:exhaustive // the others say nothing
	case jvmthread.KindContext:
		th.current = ev.SpanContext()
	case jvmthread.KindGap: // another may have become current
		th.current, th.cpu = jvmthread.SpanContext{}, 0
	case jvmthread.KindContendedEnter, jvmthread.KindPark:
		if owner := t.Thread(ev.Peer); owner != nil && owner != th {
			th.detail.OwnerSpan = owner.current
		}
	case jvmthread.KindOwnerStack:
		if th.open.State == jvmthread.StateBlocked || th.open.State == jvmthread.StateParked {
			th.detail.OwnerStack = ev.Stack
		}
	case jvmthread.KindCPU:
		sinceStart := th.open.Seq == 1 && !th.open.Marks.Has(jvmthread.MarkPartial)
		if (th.cpu > 0 || sinceStart) && ev.Arg >= th.cpu && th.open.State == jvmthread.StateRunnable {
			th.detail.CPU, th.detail.HasCPU = ev.Arg-th.cpu, true
		}
		th.cpu = ev.Arg
	}
}
