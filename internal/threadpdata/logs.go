// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// EndedByItself is the reason for the end of a deadlock one of whose threads continued. Otherwise it is the reason for the end of the session.
const EndedByItself = "went_on"

// record fills the fields that all records have.
func (e *Emitter) record(r plog.LogRecord, name string, severity plog.SeverityNumber, at jvmthread.Time, observed time.Time) {
	r.SetEventName(name)
	r.SetSeverityNumber(severity)
	r.SetSeverityText(severity.String())
	r.SetTimestamp(stamp(at + e.shift(at)))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(observed))
}

// at points a record at the span of an interval, or of its thread (Seq is NoSeq), in the window that starts at the given time.
func (e *Emitter) at(r plog.LogRecord, start jvmthread.Time, ref jvmthread.IntervalRef) {
	r.SetTraceID(TraceID(e.session, start))
	r.SetSpanID(SpanID(e.session, start, ref))
}

// Deadlock reports a deadlock: each thread with the lock it waits for, the owner of the lock, and the stack.
func (e *Emitter) Deadlock(f *deadlock.Found, observed time.Time, r plog.LogRecord) {
	e.record(r, attrDeadlockEvent, plog.SeverityNumberError, f.Since, observed)
	e.at(r, f.Window, jvmthread.IntervalRef{Thread: f.Members[0].Thread})
	a := r.Attributes()
	a.EnsureCapacity(4)
	cycle := e.putDeadlock(f, a)
	members := a.PutEmptySlice(attrDeadlockMembers)
	members.EnsureCapacity(len(f.Waits))
	var body strings.Builder
	fmt.Fprintf(&body, "deadlock of %d threads: %s", len(f.Waits), cycle)
	for i := range f.Waits {
		iv, owner := &f.Waits[i], f.Waits[(i+1)%len(f.Waits)].Thread
		e.member(iv, owner, members.AppendEmpty().SetEmptyMap())
		fmt.Fprintf(&body, "\n\n%q waits for %s@%x, which %q holds", e.threadName(iv.Thread), e.className(iv.Lock.Class), iv.Lock.Hash, e.threadName(owner))
		for line := range strings.Lines(e.sym.Stack(iv.Stack)) {
			body.WriteString("\n    " + strings.TrimSpace(line))
		}
	}
	r.Body().SetStr(body.String())
}

func (e *Emitter) member(iv *jvmthread.Interval, owner jvmthread.ThreadID, m pcommon.Map) {
	m.EnsureCapacity(8)
	e.putThread(m, attrThreadID, attrThreadName, iv.Thread)
	e.putLock(m, iv.Lock)
	e.putThread(m, attrOwnerID, attrOwnerName, owner)
	e.putPlace(m, iv.Stack)
}

// putPlace writes the location of a wait in the code.
func (e *Emitter) putPlace(m pcommon.Map, stack jvmthread.StackID) {
	if stack == jvmthread.NoStack {
		return
	}
	putText(m, attrFunction, e.waits.Site(stack).Function)
	m.PutStr(attrStacktrace, e.sym.Stack(stack))
}

// DeadlockEnd reports the end of a deadlock, with its reason and the time at which it was noticed.
func (e *Emitter) DeadlockEnd(f *deadlock.Found, by string, at jvmthread.Time, observed time.Time, r plog.LogRecord) {
	e.record(r, attrDeadlockEnd, plog.SeverityNumberInfo, at, observed)
	e.at(r, f.Window, jvmthread.IntervalRef{Thread: f.Members[0].Thread})
	a := r.Attributes()
	a.PutStr(attrDeadlockID, DeadlockID(e.session, f.Cycle))
	a.PutInt(attrDeadlockSince, int64(f.Since))
	a.PutStr(attrDeadlockEndedBy, by)
	why := "one of its threads continued"
	if by != EndedByItself {
		why = "the session ended: " + by
	}
	r.Body().SetStr(fmt.Sprintf("deadlock %s ended after %v: %s", e.cycle(f), at.Sub(f.Since), why))
}

// LockOrder reports two locks that were acquired in both orders in a window.
func (e *Emitter) LockOrder(h *deadlock.Hint, w *window.Window, observed time.Time, r plog.LogRecord) {
	e.record(r, attrOrderEvent, plog.SeverityNumberWarn, h.At, observed)
	e.at(r, w.Start, jvmthread.IntervalRef{Thread: h.Other})
	e.putHint(h, r.Attributes())
	r.Body().SetStr("locks of " + e.className(h.First.Class) + " and " + e.className(h.Second.Class) + " are acquired in both orders: " + e.hint(h))
}

// LostNotify reports a notify that no thread heard. It points at the first of the waits since, whose spans must have been selected.
func (e *Emitter) LostNotify(f *lostnotify.Found, w *window.Window, observed time.Time, r plog.LogRecord) {
	e.record(r, attrLostNotifyEvent, plog.SeverityNumberWarn, f.End, observed)
	first := &f.Waits[0]
	for iv := range w.IntervalsOf(first.Thread, first.End-1, first.End) {
		if t, ok := w.Target(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, w.Start); ok {
			if t.Folded {
				t.Ref.Seq = jvmthread.NoSeq
			}
			e.at(r, t.Window, t.Ref)
		}
	}
	a := r.Attributes()
	a.EnsureCapacity(6)
	e.putThread(a, attrThreadID, attrThreadName, first.Thread)
	e.putLock(a, f.Lock)
	e.putPlace(a, first.Stack)
	r.Body().SetStr(e.LostText(f).Text)
}
