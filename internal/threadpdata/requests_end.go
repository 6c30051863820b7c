// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/wording"
)

// writeRequestEnd writes a span of a microsecond at the beginning of a request. So it is the first child that trace viewers show, and does
// not hide the waits from their critical paths.
func (e *Emitter) writeRequestEnd(r *requests.End, s ptrace.Span) {
	id := hash(sessionHash(e.session), uint64(r.Thread), uint64(r.Start), uint64(r.End), 7)
	e.child(s, r.Span, id, r.Start, min(r.End, r.Start+2*siblingGap))
	s.SetName("critical path")
	a := s.Attributes()
	a.EnsureCapacity(8)
	e.putThread(a, attrThreadID, attrThreadName, r.Thread)
	putText(a, attrRequestName, e.sym.Class(r.Name))
	a.PutInt(attrRequestTime, int64(r.End-r.Start))
	a.PutInt(attrRequestRunning, int64(r.Running()))
	for kind, sum := range r.Waits {
		if sum.Count > 0 {
			a.PutInt(attrRequestWait[kind], int64(sum.Time))
		}
	}
	a.PutStr(attrExplanation, e.whereTimeWent(r))
	e.linkWindow(s, r.Window)
}

// whereTimeWent says where the time of a request went: "337 ms: 171 ms blocked Inventory.lock, 74 ms wait for pool HikariPool (2 waits),
// 92 ms running".
func (e *Emitter) whereTimeWent(r *requests.End) string {
	e.text = wording.AppendDuration(e.text[:0], r.End.Sub(r.Start))
	e.say(": ")
	rest := r.Waited()
	for i := range r.Lost {
		l := &r.Lost[i]
		iv := &l.Longest
		rest -= l.Time
		e.text = wording.AppendDuration(e.text, l.Time)
		e.say(" ", e.title(titleKey{class: iv.Lock.Class, stack: iv.Stack, state: iv.State, wait: iv.Wait}))
		if l.Count > 1 {
			e.say(" (")
			e.sayCount(l.Count, "wait")
			e.say(")")
		}
		e.say(", ")
	}
	if rest > 0 {
		e.text = wording.AppendDuration(e.text, rest)
		e.say(" in other waits, ")
	}
	e.text = wording.AppendDuration(e.text, r.Running())
	e.say(" running")
	return string(e.text)
}

// sayCount says how many there are of something: "4 requests".
func (e *Emitter) sayCount(n int, what string) {
	e.text = strconv.AppendInt(e.text, int64(n), 10)
	e.say(" ", what)
	if n != 1 {
		e.say("s")
	}
}
