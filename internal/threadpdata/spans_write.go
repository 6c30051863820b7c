// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// write writes what a span shows.
func (e *Emitter) write(p *plan, s ptrace.Span) {
	s.SetName(p.name)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(stamp(p.start))
	s.SetEndTimestamp(stamp(p.end))
	switch p.kind { //exhaustive:enforce
	case rootSpan:
		e.writeRoot(s)
	case pathSpan:
		e.writePath(p, s)
	case segmentSpan:
		e.writeSegment(p, s)
	case threadSpan:
		e.writeThread(p.thread, s)
	case intervalSpan:
		e.writeInterval(p, s)
	}
}

func (e *Emitter) writeSegment(p *plan, s ptrace.Span) {
	a := s.Attributes()
	a.EnsureCapacity(4)
	a.PutStr(attrPathKind, p.segment.Kind.String())
	a.PutInt(attrIntervalTime, int64(p.exact))
	a.PutStr(attrPathThreadName, e.threadName(p.segment.Thread))
	putText(a, attrExplanation, p.explanation)
}

func (e *Emitter) writeThread(l *window.Lane, s ptrace.Span) {
	a := s.Attributes()
	a.EnsureCapacity(16)
	th := e.sym.Thread(l.Thread)
	a.PutInt(attrThreadID, int64(l.Thread))
	a.PutStr(attrThreadName, e.threadName(l.Thread))
	putText(a, attrThreadGroup, th.Group)
	a.PutBool(attrThreadDaemon, th.Daemon)
	putTrue(a, attrVirtual, th.Virtual)
	putTrue(a, attrCarrierThread, th.Carrier)
	putTotals(a, &l.Totals)
	if l.Folded.Count > 0 {
		putCount(a, attrFoldedCount, l.Folded.Count)
		a.PutInt(attrFoldedTime, int64(l.Folded.Time))
	}
	putContended(a, &l.Waits, &l.Contended)
	e.putCalls(l.Thread, s)
}

// putContended writes the sum of the contended waits, and how many of them have no span.
func putContended(a pcommon.Map, t *window.Waits, folded *window.Folded) {
	if sum := t.Contended(); sum.Time > 0 || sum.Count > 0 {
		putCount(a, attrContendedCount, sum.Count)
		a.PutInt(attrContendedTime, int64(sum.Time))
	}
	if folded.Count > 0 {
		putCount(a, attrFoldedWaits, folded.Count)
		a.PutInt(attrFoldedWaitTime, int64(folded.Time))
	}
}

func (e *Emitter) writeInterval(p *plan, s ptrace.Span) {
	iv, a := &p.iv, s.Attributes()
	a.EnsureCapacity(p.room())
	a.PutStr(attrState, iv.State.String())
	a.PutInt(attrIntervalTime, int64(p.exact))
	e.putThread(a, attrThreadID, attrThreadName, iv.Thread)
	if iv.Start < p.start {
		a.PutInt(attrIntervalStart, int64(iv.Start))
	}
	putTrue(a, attrIntervalOpen, iv.Marks.Has(jvmthread.MarkOpen))
	putTrue(a, attrHistoryMissing, iv.Marks.Has(jvmthread.MarkPartial))
	if iv.Wait != jvmthread.WaitNone {
		a.PutStr(attrWaitKind, iv.Wait.String())
		putTrue(a, attrPinned, iv.Marks.Has(jvmthread.MarkPinned))
		e.wait(p, s, a)
	}
	if iv.State == jvmthread.StateDeadlocked {
		fail(s)
	}
	if iv.Cycle != 0 {
		a.PutStr(attrDeadlockID, DeadlockID(e.session, iv.Cycle))
	}
	putText(a, attrExplanation, p.explanation)
	if !p.detail.IsZero() {
		e.detail(p, s, a)
	}
	if p.onPath > 0 {
		a.PutInt(attrPathTime, int64(p.onPath))
	}
}

// room returns how many attributes the span of an interval usually gets: too few cost a copy, too many memory.
func (p *plan) room() int {
	n := 4 // state, time, id and name of the thread
	if p.explanation != "" {
		n++
	}
	if p.onPath > 0 {
		n++
	}
	if p.iv.Wait == jvmthread.WaitNone {
		return n
	}
	n += 5 // kind, cause, class, id and name of the lock
	if p.iv.Stack != jvmthread.NoStack {
		n += 4
	}
	if p.hasSlack {
		n++
	}
	if len(p.holders) > 0 {
		n += 4
		if len(p.holders) > 1 {
			n++
		}
		if p.iv.Peer != jvmthread.NoThread && p.holders[0].Thread != p.iv.Peer {
			n += 2
		}
	}
	return n
}

// wait writes what a thread waited for, for how long at most, what ended the wait, and where in the code it was.
func (e *Emitter) wait(p *plan, s ptrace.Span, a pcommon.Map) {
	iv := &p.iv
	if iv.Marks.Has(jvmthread.MarkContinues) {
		a.PutInt(attrWaitStart, int64(iv.Began()))
	}
	if iv.Timeout > 0 {
		a.PutInt(attrWaitTimeout, iv.Timeout)
	}
	if iv.Marks.Has(jvmthread.MarkTimedOut) {
		a.PutBool(attrWaitTimedOut, true)
		addEvent(s, "timeout", p.end)
	}
	if !iv.Lock.IsZero() {
		e.putLock(a, iv.Lock)
		putText(a, attrLockName, p.site.Lock)
	}
	switch {
	case iv.Peer == jvmthread.NoThread:
	case iv.State == jvmthread.StateJoining, iv.State == jvmthread.StateReentering:
		e.putThread(a, attrJoinedID, attrJoinedName, iv.Peer)
	case len(p.holders) == 0 || p.holders[0].Thread != iv.Peer:
		e.putThread(a, attrOwnerID, attrOwnerName, iv.Peer)
	}
	e.putHolders(p, a)
	if p.hasSlack {
		a.PutInt(attrSlack, int64(p.slack))
	}
	putTrue(a, attrIdle, p.idle)
	if p.cause != window.CauseNone {
		a.PutStr(attrWaitCause, p.cause.String())
	}
	if iv.Stack != jvmthread.NoStack {
		a.PutStr(attrFunction, p.site.Function)
		putText(a, attrEntry, p.site.Entry)
		if p.site.Line > 0 {
			a.PutInt(attrLine, int64(p.site.Line))
		}
		a.PutStr(attrStacktrace, e.stack(iv.Stack))
	}
}

// stack returns the text of a stack.
func (e *Emitter) stack(id jvmthread.StackID) string {
	if e.CompleteStacks {
		return e.sym.Stack(id)
	}
	return e.waits.Brief(id)
}

// putHolders writes who held the lock longest during the wait, and who else did.
func (e *Emitter) putHolders(p *plan, a pcommon.Map) {
	if len(p.holders) == 0 {
		return
	}
	h := &p.holders[0]
	a.PutStr(attrHolderName, e.threadName(h.Thread))
	if h.Time > 0 {
		a.PutDouble(attrHolderShare, h.Share(time.Duration(p.exact)))
	}
	if h.Doing.Seq != jvmthread.NoSeq {
		a.PutStr(attrHolderState, h.Doing.State.String())
		putText(a, attrHolderFunction, e.waits.Site(p.holderSite).Function)
	}
	if len(p.holders) > 1 {
		a.PutStr(attrHolders, e.holders(p))
	}
}

// detail writes what only few intervals have: the application's spans that were current on the thread and on the owner of its lock, the
// owner's stack, and the CPU time.
func (e *Emitter) detail(p *plan, s ptrace.Span, a pcommon.Map) {
	d := &p.detail
	putContext(a, attrContextTraceID, attrContextSpanID, d.Span)
	putContext(a, attrOwnerTraceID, attrOwnerSpanID, d.OwnerSpan)
	linkToApplication(s, "context", d.Span)
	linkToApplication(s, "owner_context", d.OwnerSpan)
	if d.OwnerStack != jvmthread.NoStack {
		a.PutStr(attrOwnerFunction, p.ownerSite.Function)
		a.PutStr(attrOwnerStacktrace, e.stack(d.OwnerStack))
	}
	if d.HasCPU && p.iv.State == jvmthread.StateRunnable {
		a.PutInt(attrCPUTime, d.CPU)
		a.PutInt(attrRunQueueTime, d.RunQueue)
	}
}

// linkToApplication writes a link to a span that the application sent itself.
func linkToApplication(s ptrace.Span, kind string, c jvmthread.SpanContext) {
	isParent := pcommon.SpanID(c.SpanID) == s.ParentSpanID() && pcommon.TraceID(c.TraceID) == s.TraceID()
	if c.IsZero() || isParent { // Jaeger takes a link to the parent in place of the parent
		return
	}
	l := s.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID(c.TraceID))
	l.SetSpanID(pcommon.SpanID(c.SpanID))
	l.Attributes().PutStr(attrLinkKind, kind)
}

func (e *Emitter) putThread(a pcommon.Map, idKey, nameKey string, id jvmthread.ThreadID) {
	a.PutInt(idKey, int64(id))
	a.PutStr(nameKey, e.threadName(id))
}

func (e *Emitter) putLock(a pcommon.Map, lock jvmthread.LockID) {
	a.PutStr(attrLockClass, e.className(lock.Class))
	a.PutInt(attrLockID, int64(lock.Hash))
}

// putContext names a span of the application, if there is one.
func putContext(a pcommon.Map, traceKey, spanKey string, c jvmthread.SpanContext) {
	if c.IsZero() {
		return
	}
	a.PutStr(traceKey, hex.EncodeToString(c.TraceID[:]))
	a.PutStr(spanKey, hex.EncodeToString(c.SpanID[:]))
}

// putClass names a class, if there is one.
func (e *Emitter) putClass(a pcommon.Map, id jvmthread.ClassID) {
	if id != jvmthread.NoClass {
		a.PutStr(attrLockClass, e.className(id))
	}
}

// putTotals writes the sums of the states that occurred.
func putTotals(a pcommon.Map, t *window.Totals) {
	for s := range attrTime {
		if attrTime[s] != "" && (t[s].Count > 0 || t[s].Time > 0) {
			putCount(a, attrCount[s], t[s].Count)
			a.PutInt(attrTime[s], int64(t[s].Time))
		}
	}
}

// addEvent adds an event to a span and returns its attributes. Jaeger shows the events of a span under "Logs".
func addEvent(s ptrace.Span, name string, at jvmthread.Time) pcommon.Map {
	ev := s.Events().AppendEmpty()
	ev.SetName(name)
	ev.SetTimestamp(stamp(at))
	return ev.Attributes()
}

// putText writes a text unless it is empty.
func putText(a pcommon.Map, key, text string) {
	if text != "" {
		a.PutStr(key, text)
	}
}

// putTrue writes a flag that is absent if it is false.
func putTrue(a pcommon.Map, key string, flag bool) {
	if flag {
		a.PutBool(key, true)
	}
}

func putCount(a pcommon.Map, key string, n uint64) { a.PutInt(key, int64(n)) }

// stamp returns a time as OTLP has it: times before 1970, of recordings without a clock, are the first one.
func stamp(t jvmthread.Time) pcommon.Timestamp { return pcommon.Timestamp(max(t, 0)) }
