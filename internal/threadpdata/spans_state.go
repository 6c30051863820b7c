// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// stateWords are what a state is called elsewhere.
type stateWords struct {
	jvm  string // value of jvm.thread.state for a wait without time-out
	wait string // value of weft.wait.kind
}

var words = [jvmthread.NumStates]stateWords{
	jvmthread.StateRunnable:   {jvm: "runnable"},
	jvmthread.StateBlocked:    {jvm: "blocked", wait: "lock"},
	jvmthread.StateWaiting:    {jvm: "waiting", wait: "object"},
	jvmthread.StateReentering: {jvm: "blocked", wait: "reenter"},
	jvmthread.StateJoining:    {jvm: "waiting", wait: "join"},
	jvmthread.StateSleeping:   {jvm: "timed_waiting", wait: "sleep"},
	jvmthread.StateParked:     {jvm: "waiting", wait: "park"},
	jvmthread.StateDeadlocked: {jvm: "blocked", wait: "lock"},
	jvmthread.StateSuspended:  {jvm: "blocked", wait: "suspend"},
	jvmthread.StateDead:       {jvm: "terminated"},
}

// spanEnd is where the span of a state or of a segment ends. Jaeger warns of spans that end where they begin.
func spanEnd(start, end jvmthread.Time) jvmthread.Time {
	return max(min(start+1, end), end-jvmthread.Time(siblingGap))
}

// interval writes the span of one interval, or of the piece of it that lies in the window.
func (e *Emitter) interval(iv *jvmthread.Interval, s ptrace.Span, parent pcommon.SpanID) {
	start, end := e.window.Clip(*iv)
	e.span(s, spanID(e.session, e.window.Start, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}), parent, e.name(iv),
		start, spanEnd(start, end))
	a := s.Attributes()
	a.EnsureCapacity(16)
	w := &words[iv.State]
	a.PutStr(attrState, iv.State.String())
	a.PutInt(attrIntervalTime, int64(end.Sub(start)))
	a.PutInt(attrThreadID, int64(iv.Thread))
	a.PutStr(attrThreadName, e.threadName(iv.Thread))
	switch {
	case w.jvm == "waiting" && iv.Timeout > 0:
		a.PutStr(attrThreadState, "timed_waiting")
	case w.jvm != "":
		a.PutStr(attrThreadState, w.jvm)
	}
	if iv.Start < start {
		a.PutInt(attrIntervalStart, int64(iv.Start))
	}
	if iv.Marks.Has(jvmthread.MarkOpen) {
		a.PutBool(attrIntervalOpen, true)
	}
	if iv.Marks.Has(jvmthread.MarkPartial) {
		a.PutBool(attrHistoryMissing, true)
	}
	if w.wait != "" {
		a.PutStr(attrWaitKind, w.wait)
		e.wait(iv, s, a)
	}
	if iv.State == jvmthread.StateDeadlocked {
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage("deadlock")
	}
	if iv.Cycle != 0 {
		a.PutStr(attrDeadlockID, e.deadlockID(iv.Cycle))
	}
	e.links(iv, s)
	e.detail(iv, s)
}

// wait writes what is known of a wait: for what, for how long at most, and where in the code.
func (e *Emitter) wait(iv *jvmthread.Interval, s ptrace.Span, a pcommon.Map) {
	if iv.Timeout > 0 {
		a.PutInt(attrWaitTimeout, iv.Timeout)
	}
	if iv.Marks.Has(jvmthread.MarkTimedOut) {
		a.PutBool(attrWaitTimedOut, true)
		ev := s.Events().AppendEmpty()
		ev.SetName("timeout")
		ev.SetTimestamp(s.EndTimestamp())
	}
	if !iv.Lock.IsZero() {
		a.PutStr(attrLockClass, e.sym.Class(iv.Lock.Class))
		a.PutInt(attrLockID, int64(iv.Lock.Hash))
	}
	if iv.Peer != jvmthread.NoThread {
		id, name := attrOwnerID, attrOwnerName
		if iv.State == jvmthread.StateJoining || iv.State == jvmthread.StateReentering {
			id, name = attrJoinedID, attrJoinedName
		}
		a.PutInt(id, int64(iv.Peer))
		a.PutStr(name, e.threadName(iv.Peer))
	}
	if slack, ok := e.window.Slack(*iv); ok {
		a.PutInt(attrSlack, int64(slack))
	}
	if e.window.Idle(*iv) {
		a.PutBool(attrIdle, true)
	}
	if cause := window.CauseOf(iv, e.window.Causes(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})); cause != window.CauseNone {
		a.PutStr(attrWaitCause, cause.String())
	}
	if iv.Stack != jvmthread.NoStack {
		p := e.place(iv.Stack)
		a.PutStr(attrFunction, p.Function)
		if p.File != "" {
			a.PutStr(attrFile, p.File)
		}
		if p.Line > 0 {
			a.PutInt(attrLine, int64(p.Line))
		}
		a.PutStr(attrStacktrace, e.sym.Stack(iv.Stack))
	}
}

// links writes the links to whatever let the interval go on, and to its earlier piece.
func (e *Emitter) links(iv *jvmthread.Interval, s ptrace.Span) {
	e.text.Reset()
	for _, ia := range e.window.Causes(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}) {
		e.link(s, &ia)
		e.explain(&ia)
		if ia.Kind == jvmthread.InteractionHandoff && iv.State == jvmthread.StateBlocked && iv.Peer != jvmthread.NoThread {
			e.owner(iv, iv.Peer == ia.From.Thread)
		}
	}
	if ref, ok := e.window.NextInCycle(*iv); ok {
		e.linkTo(s, "deadlock", window.Target{Window: e.window.Start, Ref: ref})
		e.text.WriteString("waits for " + e.threadName(ref.Thread) + ", which waits for it in a cycle")
	}
	if e.text.Len() > 0 {
		s.Attributes().PutStr(attrExplanation, e.text.String())
	}
	if t, ok := e.window.Earlier(*iv); ok {
		e.linkTo(s, "continues", t)
	}
}

// linkTo writes a link to a span, or to that of its thread if it is folded.
func (e *Emitter) linkTo(s ptrace.Span, kind string, t window.Target) ptrace.SpanLink {
	ref := t.Ref
	if t.Folded {
		ref.Seq = jvmthread.NoSeq
	}
	l := s.Links().AppendEmpty()
	l.SetTraceID(traceID(e.session, t.Window))
	l.SetSpanID(spanID(e.session, t.Window, ref))
	l.Attributes().EnsureCapacity(3)
	l.Attributes().PutStr(attrLinkKind, kind)
	return l
}

// owner says who held the lock when the thread began to be blocked, if it is another than the one that handed it over, and what it was
// doing, if that was not to run.
func (e *Emitter) owner(iv *jvmthread.Interval, same bool) {
	holder, state := "", ""
	if !same {
		holder = e.threadName(iv.Peer)
	}
	if doing, ok := e.window.Doing(iv.Peer, iv.Start); ok && doing.State.Stopped() {
		state = e.name(&doing)
	}
	e.text.WriteString(wording.Holder(holder, state))
}

// link points at the span of the cause, or at the span of its thread if that one is folded.
func (e *Emitter) link(s ptrace.Span, ia *jvmthread.Interaction) {
	t, ok := e.window.Target(ia.From, ia.CauseTime)
	if !ok {
		return
	}
	a := e.linkTo(s, ia.Kind.String(), t).Attributes()
	a.PutInt(attrLinkLatency, int64(ia.Latency()))
	a.PutStr(attrLinkConfidence, ia.Confidence.String())
}
