// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

func (w *incidentWriter) root(s ptrace.Span) {
	inc, a := w.inc, s.Attributes()
	culprit := inc.Culprit(w.sym)
	s.SetName(w.name())
	a.EnsureCapacity(24)
	a.PutStr(attrSessionID, w.session.String())
	a.PutStr(attrIncidentKind, inc.Kind.String())
	putTrue(a, attrIncidentOpen, inc.Open)
	a.PutInt(attrIncidentBlocked, int64(inc.Blocked))
	putCount(a, attrIncidentWaits, inc.Count)
	a.PutInt(attrIncidentThreads, int64(inc.Threads))
	a.PutInt(attrIncidentLongest, int64(inc.Longest))
	if inc.TimedOut > 0 {
		putCount(a, attrIncidentTimedOut, inc.TimedOut)
	}
	w.fail(s)
	w.folded(a)
	w.locks(a)
	if inc.SavedKnown {
		a.PutInt(attrSaved, int64(inc.Saved))
	}
	if culprit != nil {
		w.culprit(a, culprit)
	}
	if d := inc.Deadlock; d != nil {
		w.putDeadlock(d, a)
	} else if inc.Cycle != 0 {
		a.PutStr(attrDeadlockID, DeadlockID(w.session, inc.Cycle))
	}
	a.PutStr(attrExplanation, w.explain(culprit))
	if inc.Rest {
		a.PutStr(attrIncidentBefore, IncidentTraceID(w.session, inc.Before).String())
	}
}

// fail marks the incidents that are errors.
func (w *incidentWriter) fail(s ptrace.Span) {
	switch {
	case w.inc.Kind == incident.Deadlock:
		fail(s)
		s.Attributes().PutStr(attrErrorType, "deadlock")
	case w.inc.Kind == incident.PoolExhausted && w.inc.TimedOut > 0:
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage(plural(w.inc.TimedOut, "wait") + " timed out")
		s.Attributes().PutStr(attrErrorType, "timeout")
	}
}

// folded counts the waits without a span.
func (w *incidentWriter) folded(a pcommon.Map) {
	rest := w.inc.Blocked
	for i := range w.inc.Waits {
		rest -= w.inc.Waits[i].End.Sub(w.inc.Waits[i].Start)
	}
	if n := w.inc.Count - min(w.inc.Count, uint64(len(w.inc.Waits))); n > 0 || rest > 0 {
		putCount(a, attrFoldedWaits, n)
		a.PutInt(attrFoldedWaitTime, int64(rest))
	}
}

// locks writes what the threads waited for.
func (w *incidentWriter) locks(a pcommon.Map) {
	inc := w.inc
	if !inc.Lock.IsZero() {
		w.putLock(a, inc.Lock)
		if site := w.waits.Site(inc.Root().Stack); site.Lock != "" {
			a.PutStr(attrLockName, site.Lock)
		}
	}
	if len(inc.Locks) < 2 {
		return
	}
	w.text = w.text[:0]
	for i := range inc.Locks {
		l := &inc.Locks[i]
		if i == maxHolders {
			w.say(", ...")
			break
		}
		if i > 0 {
			w.say(", ")
		}
		w.say(w.Emitter.object(l.Kind, l.ID.Lock.Class, l.Stack), " ", wording.Duration(l.Time))
	}
	a.PutStr(attrIncidentLocks, string(w.text))
}

// culprit writes who is the cause, and what it did.
func (w *incidentWriter) culprit(a pcommon.Map, culprit *incident.Holder) {
	a.PutStr(attrHolderName, w.threadName(culprit.Thread))
	a.PutDouble(attrHolderShare, w.inc.Share(culprit))
	if h := w.inc.DoingOf(culprit.Thread); h != nil {
		w.doing(a, h)
	}
}

// doing writes what a thread did while it held the root.
func (w *incidentWriter) doing(a pcommon.Map, h *incident.Hold) {
	if h.Doing.Seq == jvmthread.NoSeq {
		return
	}
	a.PutStr(attrHolderState, h.Doing.State.String())
	putText(a, attrHolderFunction, w.waits.Site(w.holderStack(h)).Function)
}

func (w *incidentWriter) hold(h *incident.Hold, s ptrace.Span) {
	state := jvmthread.StateUnknown
	if h.Doing.Seq != jvmthread.NoSeq {
		state = h.Doing.State
	}
	object := w.objectOf(h)
	verb := "held"
	if h.Of.Kind == incident.AwaitedCarriers {
		verb = "kept a carrier"
	}
	s.SetName(w.holdNames.limit(maxHoldNames, verb, object, ": "+state.String()))
	a := s.Attributes()
	a.EnsureCapacity(10)
	a.PutStr(attrIncidentRole, "holder")
	w.putThread(a, attrThreadID, attrThreadName, h.Thread)
	a.PutInt(attrIntervalTime, int64(h.End.Sub(h.Start)))
	if h.Since < h.Start {
		a.PutInt(attrIntervalStart, int64(h.Since))
	}
	if h.Of.Lock.Class != jvmthread.NoClass {
		w.putLock(a, h.Of.Lock)
	}
	a.PutInt(attrIncidentBlocked, int64(h.Blocked))
	w.doing(a, h)
	a.PutStr(attrExplanation, w.explainHold(h, object))
	w.linkToDetail(s, h.Target, h.HasSpan)
}

// wait writes a wait without what its detailed span in the trace of the window says.
func (w *incidentWriter) wait(wt *incident.Wait, s ptrace.Span) {
	iv := &wt.Interval
	s.SetName(w.intervalName(iv))
	a := s.Attributes()
	a.EnsureCapacity(14)
	a.PutStr(attrIncidentRole, "waiter")
	w.putThread(a, attrThreadID, attrThreadName, iv.Thread)
	a.PutInt(attrIntervalTime, int64(wt.End.Sub(wt.Start)))
	if iv.Began() < wt.Start {
		a.PutInt(attrIntervalStart, int64(iv.Began()))
	}
	putTrue(a, attrIntervalOpen, iv.Marks.Has(jvmthread.MarkOpen))
	putTrue(a, attrWaitTimedOut, iv.Marks.Has(jvmthread.MarkTimedOut))
	if !iv.Lock.IsZero() {
		w.putLock(a, iv.Lock)
	}
	site := w.waits.Site(iv.Stack)
	putText(a, attrLockName, site.Lock)
	putText(a, attrFunction, site.Function)
	putText(a, attrEntry, site.Entry)
	if id := wt.Holder.Thread; id != jvmthread.NoThread {
		a.PutStr(attrHolderName, w.threadName(id))
		if wt.Share > 0 {
			a.PutDouble(attrHolderShare, wt.Share)
		}
		if wt.Holder.Doing.Seq != jvmthread.NoSeq {
			a.PutStr(attrHolderState, wt.Holder.Doing.State.String())
		}
	}
	a.PutStr(attrExplanation, w.explainWait(wt))
	putContext(a, attrContextTraceID, attrContextSpanID, wt.Detail.Span)
	w.linkToDetail(s, wt.Target, wt.HasSpan)
	w.linkToHold(wt, s)
	linkToApplication(s, "context", wt.Detail.Span)
	if iv.State == jvmthread.StateDeadlocked {
		fail(s)
	}
}
