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
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// EndedByItself says that a deadlock is over since one of its threads went on; else it is over with its session, for the reason of that.
const EndedByItself = "went_on"

// record fills what all records have.
func record(r plog.LogRecord, name string, severity plog.SeverityNumber, at jvmthread.Time, observed time.Time) {
	r.SetEventName(name)
	r.SetSeverityNumber(severity)
	r.SetSeverityText(severity.String())
	r.SetTimestamp(stamp(at))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(observed))
}

// at points a record at the span of an interval, or of its thread (Seq is NoSeq), in the window that starts at the given time.
func (e *Emitter) at(r plog.LogRecord, start jvmthread.Time, ref jvmthread.IntervalRef) {
	r.SetTraceID(TraceID(e.session, start))
	r.SetSpanID(SpanID(e.session, start, ref))
}

// Deadlock writes that a deadlock was found: every thread with the lock it waits for, who owns it, and where.
func (e *Emitter) Deadlock(f *deadlock.Found, observed time.Time, r plog.LogRecord) {
	record(r, attrDeadlockEvent, plog.SeverityNumberError, f.Since, observed)
	e.at(r, f.Window, jvmthread.IntervalRef{Thread: f.Members[0].Thread})
	a := r.Attributes()
	a.EnsureCapacity(4)
	a.PutStr(attrDeadlockID, DeadlockID(e.session, f.Cycle))
	a.PutInt(attrDeadlockSince, int64(f.Since))
	cycle := e.cycle(f)
	a.PutStr(attrDeadlockThreads, cycle)
	members := a.PutEmptySlice(attrDeadlockMembers)
	members.EnsureCapacity(len(f.Waits))
	var body strings.Builder
	fmt.Fprintf(&body, "deadlock of %d threads: %s", len(f.Waits), cycle)
	for i := range f.Waits {
		iv, owner := &f.Waits[i], f.Waits[(i+1)%len(f.Waits)].Thread
		e.member(iv, owner, members.AppendEmpty().SetEmptyMap())
		fmt.Fprintf(&body, "\n\n%q waits for %s@%x, which %q holds", e.threadName(iv.Thread), e.sym.Class(iv.Lock.Class), iv.Lock.Hash, e.threadName(owner))
		for line := range strings.Lines(e.sym.Stack(iv.Stack)) {
			body.WriteString("\n    " + strings.TrimSpace(line))
		}
	}
	r.Body().SetStr(body.String())
}

func (e *Emitter) member(iv *jvmthread.Interval, owner jvmthread.ThreadID, m pcommon.Map) {
	m.EnsureCapacity(8)
	m.PutInt(attrThreadID, int64(iv.Thread))
	m.PutStr(attrThreadName, e.threadName(iv.Thread))
	m.PutStr(attrLockClass, e.sym.Class(iv.Lock.Class))
	m.PutInt(attrLockID, int64(iv.Lock.Hash))
	m.PutInt(attrOwnerID, int64(owner))
	m.PutStr(attrOwnerName, e.threadName(owner))
	e.putPlace(m, iv.Stack)
}

// putPlace writes where in the code a wait is.
func (e *Emitter) putPlace(m pcommon.Map, stack jvmthread.StackID) {
	if stack == jvmthread.NoStack {
		return
	}
	text := e.sym.Stack(stack)
	if p, _ := wording.FindPlace(text); p.Function != "" {
		m.PutStr(attrFunction, p.Function)
	}
	m.PutStr(attrStacktrace, text)
}

// DeadlockEnd writes that a deadlock is over: why, and when that was seen.
func (e *Emitter) DeadlockEnd(f *deadlock.Found, by string, at jvmthread.Time, observed time.Time, r plog.LogRecord) {
	record(r, attrDeadlockEnd, plog.SeverityNumberInfo, at, observed)
	e.at(r, f.Window, jvmthread.IntervalRef{Thread: f.Members[0].Thread})
	a := r.Attributes()
	a.PutStr(attrDeadlockID, DeadlockID(e.session, f.Cycle))
	a.PutInt(attrDeadlockSince, int64(f.Since))
	a.PutStr(attrDeadlockEndedBy, by)
	why := "one of its threads went on"
	if by != EndedByItself {
		why = "the session is over: " + by
	}
	r.Body().SetStr(fmt.Sprintf("the deadlock %s is over after %v: %s", e.cycle(f), at.Sub(f.Since), why))
}

// LockOrder writes that two locks are taken in both orders, as was seen in a window.
func (e *Emitter) LockOrder(h *deadlock.Hint, w *window.Window, observed time.Time, r plog.LogRecord) {
	record(r, attrOrderEvent, plog.SeverityNumberWarn, h.At, observed)
	e.at(r, w.Start, jvmthread.IntervalRef{Thread: h.Other})
	e.putHint(h, r.Attributes())
	r.Body().SetStr("locks of " + e.sym.Class(h.First.Class) + " and " + e.sym.Class(h.Second.Class) + " are taken in both orders: " + e.hint(h))
}

// LostReason is why a notify was lost, as attributes have it.
func LostReason(otherWoken bool) string {
	if otherWoken {
		return "other_woken"
	}
	return "nobody_waited"
}

// LostNotify writes that a wait timed out although there was a notify, as was seen in a window whose spans are selected.
func (e *Emitter) LostNotify(n *interaction.LostNotify, w *window.Window, observed time.Time, r plog.LogRecord) {
	record(r, attrLostNotifyEvent, plog.SeverityNumberWarn, n.Wait.End, observed)
	ref := jvmthread.IntervalRef{Thread: n.Wait.Thread, Seq: n.Wait.Seq}
	if t, ok := w.Target(ref, max(w.Start, n.Wait.End)); ok {
		if t.Folded {
			t.Ref.Seq = jvmthread.NoSeq
		}
		e.at(r, t.Window, t.Ref)
	}
	a := r.Attributes()
	a.EnsureCapacity(8)
	a.PutInt(attrThreadID, int64(n.Wait.Thread))
	a.PutStr(attrThreadName, e.threadName(n.Wait.Thread))
	a.PutStr(attrLockClass, e.sym.Class(n.Wait.Lock.Class))
	a.PutInt(attrLockID, int64(n.Wait.Lock.Hash))
	a.PutStr(attrLostReason, LostReason(n.OtherWoken))
	e.putPlace(a, n.Wait.Stack)
	why := fmt.Sprintf("notify was called %v before it began to wait, when nobody waited", n.Wait.Start.Sub(n.Notified))
	if n.OtherWoken {
		why = fmt.Sprintf("notify was called %v before that, and woke another thread", n.Wait.End.Sub(n.Notified))
	}
	r.Body().SetStr(fmt.Sprintf("%s waited %v on %s in vain: %s", e.threadName(n.Wait.Thread), n.Wait.Duration(), e.sym.Class(n.Wait.Lock.Class), why))
}
