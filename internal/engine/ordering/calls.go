// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package ordering

import "github.com/weft-otel/weft/internal/jvmthread"

// lookback is for how long a system call may have lasted when it is reported: it began with what the agent saw first, 10 ms or up to 100 ms
// earlier. So the events of a session that reports system calls are returned this much later.
const lookback jvmthread.Time = 200_000_000

// isCall reports whether an event says that a thread has been in a system call for a while.
func isCall(ev *jvmthread.Event) bool {
	return ev.Kind == jvmthread.KindPark && ev.Flags&jvmthread.FlagSystemCall != 0
}

// backdate moves the system calls in a batch to the times at which they began. None begins before its thread did something else, or in what is
// missing.
func (q *Queue) backdate(events []jvmthread.Event) {
	q.calls = true
	earliest := make(map[jvmthread.ThreadID]jvmthread.Time) // of threads with such calls
	for i := range events {
		if isCall(&events[i]) {
			earliest[events[i].Thread] = q.out
		}
	}
	missing := q.out
	pass := func(ev *jvmthread.Event) {
		if ev.Thread == jvmthread.NoThread {
			missing = max(missing, ev.Time)
		}
		if at, ok := earliest[ev.Thread]; ok {
			earliest[ev.Thread] = max(at, ev.Time)
		}
	}
	for i := range q.held {
		pass(&q.held[i])
	}
	for i := range events {
		ev := &events[i]
		if isCall(ev) {
			ev.Time = max(ev.Time-min(max(0, jvmthread.Time(ev.Arg)), lookback), earliest[ev.Thread], missing)
			ev.Arg = 0
		}
		pass(ev)
	}
}
