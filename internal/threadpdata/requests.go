// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// AppendRequests writes a span for each wait and each hold of a report, in the trace of the application's span that waited or held, as its
// child, and one that says where the time of each request went that is worth a span.
func (e *Emitter) AppendRequests(r *requests.Report, dst ptrace.SpanSlice) {
	dst.EnsureCapacity(dst.Len() + len(r.Waits) + len(r.Holds) + len(r.Ends))
	e.threads.Clear() // threads may have new names
	for i := range r.Waits {
		s := dst.AppendEmpty()
		e.writeRequestWait(&r.Waits[i], s)
		move(s, e.shift(r.Waits[i].Start))
	}
	for i := range r.Holds {
		s := dst.AppendEmpty()
		e.writeRequestHold(&r.Holds[i], s)
		move(s, e.shift(r.Holds[i].Start))
	}
	for i := range r.Ends {
		if r.Ends[i].Shown {
			s := dst.AppendEmpty()
			e.writeRequestEnd(&r.Ends[i], s)
			move(s, e.shift(r.Ends[i].Start))
		}
	}
}

// child begins a span in the trace of the application.
func (e *Emitter) child(s ptrace.Span, of jvmthread.SpanContext, id uint64, start, end jvmthread.Time) {
	const sampled, parentIsLocal = 1, 0x100 // opentelemetry.proto.trace.v1.SpanFlags
	s.SetTraceID(pcommon.TraceID(of.TraceID))
	s.SetParentSpanID(pcommon.SpanID(of.SpanID))
	s.SetSpanID(asSpanID(id))
	s.SetFlags(sampled | parentIsLocal)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(stamp(start))
	s.SetEndTimestamp(stamp(spanEnd(start, end)))
}

// requestWaitID is the ID of the span of a wait in the trace of its request.
func (e *Emitter) requestWaitID(iv *jvmthread.Interval) uint64 {
	return requestWaitID(e.session, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
}

// requestHoldID is the ID of the span of a hold in the trace of its request.
func (e *Emitter) requestHoldID(h *jvmthread.Hold) uint64 {
	return hash(sessionHash(e.session), uint64(h.Lock.Class), uint64(h.Lock.Hash), uint64(h.Thread), uint64(h.Start), 6)
}

func (e *Emitter) writeRequestWait(w *requests.Wait, s ptrace.Span) {
	iv, p := &w.Interval, &e.plan
	p.of(intervalSpan, jvmthread.IntervalRef{}, jvmthread.IntervalRef{})
	p.iv, p.start, p.end, p.exact = *iv, w.Start, w.End, jvmthread.Time(iv.Waited())
	p.causes, p.detail, p.cause = append(p.causes, w.Causes...), w.Detail, window.CauseOf(iv, w.Causes)
	for i := range w.Holders {
		p.holders = append(p.holders, w.Holders[i].Holder)
	}
	e.describe(p)
	e.child(s, w.Detail.Span, e.requestWaitID(iv), w.Start, w.End)
	s.SetName(p.name)
	a := s.Attributes()
	a.EnsureCapacity(p.room() + 4)
	a.PutStr(attrState, iv.State.String())
	a.PutInt(attrWaitTime, int64(w.Time))
	if w.Count > 1 {
		a.PutInt(attrWaitCount, int64(w.Count))
		s.SetName(p.name + repeatedly)
		p.explanation = e.repeated(w, p.explanation)
	}
	e.putThread(a, attrThreadID, attrThreadName, iv.Thread)
	putTrue(a, attrIntervalOpen, iv.Marks.Has(jvmthread.MarkOpen))
	a.PutStr(attrWaitKind, iv.Wait.String())
	e.wait(p, s, a)
	if iv.State == jvmthread.StateDeadlocked {
		fail(s)
	}
	if iv.Cycle != 0 {
		a.PutStr(attrDeadlockID, DeadlockID(e.session, iv.Cycle))
	}
	putText(a, attrExplanation, p.explanation)
	if w.Detail.OwnerStack != jvmthread.NoStack {
		a.PutStr(attrOwnerFunction, p.ownerSite.Function)
		a.PutStr(attrOwnerStacktrace, e.stack(w.Detail.OwnerStack))
	}
	e.linkHolders(w, s)
	if w.Pinned {
		e.linkTo(s, "detail", w.Window, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	} else {
		e.linkWindow(s, w.Window)
	}
}

// repeatedly ends the name of the span of a run of waits, which also covers the time between them.
const repeatedly = ", repeatedly"

// repeated puts the numbers of a run before the explanation of its longest wait.
func (e *Emitter) repeated(w *requests.Wait, longest string) string {
	e.text = e.text[:0]
	e.sayCount(w.Count, "wait")
	e.say(" of ")
	e.text = wording.AppendDuration(e.text, w.Time)
	e.say(" in sum, the longest ")
	if longest == "" {
		e.text = wording.AppendDuration(e.text, w.Interval.Waited())
	}
	e.say(longest) // begins with its time
	return string(e.text)
}

// A wait links to the requests of the threads that held what it was for longest: at most maxHolderLinks, and after the first one only those
// with at least leastLinked of it.
const (
	maxHolderLinks = 3
	leastLinked    = 0.1
)

// linkHolders links a wait to the requests of those that held what it was for, or else of the owner when it began.
func (e *Emitter) linkHolders(w *requests.Wait, s ptrace.Span) {
	n := 0
	for i := range w.Holders {
		h := &w.Holders[i]
		if h.Span.IsZero() || n == maxHolderLinks || n > 0 && h.Share(w.Interval.Waited()) < leastLinked {
			continue
		}
		if n == 0 {
			putContext(s.Attributes(), attrHolderTraceID, attrHolderSpanID, h.Span)
		}
		linkToApplication(s, "holder_context", h.Span)
		n++
	}
	if n == 0 && len(w.Holders) == 0 {
		linkToApplication(s, "owner_context", w.Detail.OwnerSpan)
	}
}

// linkWindow links to the trace of a window, in which the other threads are.
func (e *Emitter) linkWindow(s ptrace.Span, start jvmthread.Time) {
	e.linkTo(s, "window", start, jvmthread.IntervalRef{})
}

// linkTo links to a span in the trace of a window.
func (e *Emitter) linkTo(s ptrace.Span, kind string, start jvmthread.Time, ref jvmthread.IntervalRef) {
	l := s.Links().AppendEmpty()
	l.SetTraceID(TraceID(e.session, start))
	l.SetSpanID(SpanID(e.session, start, ref))
	l.Attributes().PutStr(attrLinkKind, kind)
}

func (e *Emitter) writeRequestHold(h *requests.Held, s ptrace.Span) {
	wait := &h.Wait
	e.child(s, h.Span, e.requestHoldID(&h.Hold), h.Start, h.End)
	s.SetName(e.heldName(wait))
	a := s.Attributes()
	a.EnsureCapacity(14)
	e.putThread(a, attrThreadID, attrThreadName, h.Hold.Thread)
	e.putLock(a, h.Hold.Lock)
	putText(a, attrLockName, e.waits.Site(wait.Stack).Lock)
	a.PutStr(attrWaitKind, wait.Wait.String())
	a.PutInt(attrLockHeld, int64(h.Hold.End.Sub(h.Hold.Start)))
	a.PutInt(attrLockBlocked, int64(h.Caused))
	a.PutInt(attrLockWaiters, int64(h.Threads))
	a.PutInt(attrRequestWaiters, int64(h.Requests))
	if iv := &h.Doing; iv.Seq != jvmthread.NoSeq {
		a.PutStr(attrHolderState, iv.State.String())
		putText(a, attrHolderFunction, e.waits.Site(iv.Stack).Function)
	}
	a.PutStr(attrExplanation, e.blame(h))
	for _, c := range h.Waiters {
		linkToApplication(s, "waiter_context", c)
	}
	e.linkWindow(s, h.Window)
}

func (e *Emitter) heldName(wait *jvmthread.Interval) string {
	const held = "held"
	object := e.object(wait.Wait, wait.Lock.Class, wait.Stack)
	if object == "" {
		return held
	}
	return e.names.limit(held+" "+object, held, true)
}

// blame says who waited for a hold, and what its thread did meanwhile.
func (e *Emitter) blame(h *requests.Held) string {
	e.text = e.text[:0]
	others := h.Threads - h.Requests
	switch {
	case others == 0:
		e.sayCount(h.Requests, "request")
	case h.Requests == 0:
		e.sayCount(others, "thread")
	default:
		e.sayCount(h.Requests, "request")
		e.say(" and ")
		e.sayCount(others, "other thread")
	}
	e.say(" waited ")
	e.text = wording.AppendDuration(e.text, h.Caused)
	if h.Threads > 1 {
		e.say(" in sum")
	}
	e.say(" while this one held it for ")
	e.text = wording.AppendDuration(e.text, time.Duration(h.Hold.End-h.Hold.Start))
	if iv := &h.Doing; iv.Seq != jvmthread.NoSeq {
		doing := wording.Doing(iv.State, iv.Wait, e.object(iv.Wait, iv.Lock.Class, iv.Stack), e.waits.Site(iv.Stack).Function)
		if doing != "" {
			e.say(", ", doing)
		}
	}
	return string(e.text)
}
