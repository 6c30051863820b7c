// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// role is what a span is in the trace of an incident.
type role uint64

const (
	roleRoot role = iota
	roleHold
	roleWait
)

// IncidentTraceID is the ID of the trace of an incident.
func IncidentTraceID(s jvmthread.SessionID, id incident.ID) (trace pcommon.TraceID) {
	h := incidentHash(s, id)
	binary.BigEndian.PutUint64(trace[:8], hash(h, 1))
	binary.BigEndian.PutUint64(trace[8:], hash(h, 2))
	trace[0] = notZero(trace[0])
	return trace
}

func incidentHash(s jvmthread.SessionID, id incident.ID) uint64 {
	var rest uint64
	if id.Rest {
		rest = 1
	}
	return hash(sessionHash(s), uint64(id.Start), uint64(id.First), rest, 5)
}

// incidentSpanID is the ID of a span of an incident. A thread holds its root, or begins to wait, once at a time.
func incidentSpanID(base uint64, r role, thread jvmthread.ThreadID, start jvmthread.Time) pcommon.SpanID {
	return asSpanID(hash(base, 3, uint64(r), uint64(thread), uint64(start)))
}

// AppendIncidents writes the traces of incidents that ended in a window: a root, a span for each hold and one for each wait. The root of the
// window, which Append has written, gets what Announce writes.
func (e *Emitter) AppendIncidents(found *incident.Found, root ptrace.Span, dst ptrace.SpanSlice) {
	e.Announce(found, root)
	e.StreamIncidents(found, whole(dst))
}

// StreamIncidents writes the traces of incidents in pieces, after Stream. Announce has described them on the root of their window.
func (e *Emitter) StreamIncidents(found *incident.Found, dst *Pieces) {
	e.threads.Clear()
	for _, inc := range found.Incidents {
		w := e.incidentWriter(inc)
		dst.expect(1 + len(inc.Holds) + len(inc.Waits))
		s := w.span(dst, roleRoot, 0, inc.Start, inc.End)
		s.SetParentSpanID(pcommon.SpanID{})
		w.root(s)
		move(s, e.by)
		for i := range inc.Holds {
			h := &inc.Holds[i]
			s := w.span(dst, roleHold, h.Thread, h.Start, spanEnd(h.Start, h.End))
			w.hold(h, s)
			move(s, e.by)
		}
		for i := range inc.Waits {
			wt := &inc.Waits[i]
			s := w.span(dst, roleWait, wt.Interval.Thread, wt.Start, spanEnd(wt.Start, wt.End))
			w.wait(wt, s)
			move(s, e.by)
		}
	}
}

// Announce lists the incidents that ended in a window on its root, and writes what became of the window's contended and starved time. The root is
// complete then, and may be sent before the incidents are.
func (e *Emitter) Announce(found *incident.Found, root ptrace.Span) {
	for _, inc := range found.Incidents {
		w := e.incidentWriter(inc)
		w.announce(addEvent(root, attrIncidentEvent, max(inc.Start+e.by, jvmthread.Time(root.StartTimestamp()))))
	}
	a := root.Attributes()
	for _, sum := range []struct {
		count, time string
		incident.Sum
	}{
		{attrIncidentCount, attrIncidentTime, found.Reported},
		{attrIncidentFoldedCount, attrIncidentFoldedTime, found.Rest},
		{attrIncidentOpenCount, attrIncidentOpenTime, found.Open},
	} {
		if sum.Count > 0 {
			putCount(a, sum.count, sum.Count)
			a.PutInt(sum.time, int64(sum.Time))
		}
	}
	if found.Starved > 0 {
		a.PutInt(attrStarvedTime, int64(found.Starved))
	}
}

// incidentWriter writes the trace of an incident.
type incidentWriter struct {
	*Emitter

	inc    *incident.Incident
	object string // what threads waited for
	trace  pcommon.TraceID
	base   uint64
}

func (e *Emitter) incidentWriter(inc *incident.Incident) *incidentWriter {
	return &incidentWriter{
		Emitter: e, inc: inc, object: e.rootObject(inc), trace: IncidentTraceID(e.session, inc.ID), base: incidentHash(e.session, inc.ID),
	}
}

// announce describes an incident on the root of the window in which it ended. Roots have no links: Jaeger takes the first link of a span
// without parent for its parent, and finds no critical path then.
func (w *incidentWriter) announce(a pcommon.Map) {
	a.PutStr(attrIncidentName, w.name())
	a.PutStr(attrIncidentTraceID, w.trace.String())
	a.PutInt(attrIncidentBlocked, int64(w.inc.Blocked))
}

// span appends a span below the root.
func (w *incidentWriter) span(dst *Pieces, r role, thread jvmthread.ThreadID, start, end jvmthread.Time) ptrace.Span {
	s := dst.append()
	s.SetTraceID(w.trace)
	s.SetSpanID(incidentSpanID(w.base, r, thread, start))
	s.SetParentSpanID(incidentSpanID(w.base, roleRoot, 0, w.inc.Start))
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(stamp(start))
	s.SetEndTimestamp(stamp(end))
	return s
}

// linkTo writes a link to a span.
func linkTo(s ptrace.Span, kind string, trace pcommon.TraceID, span pcommon.SpanID) {
	l := s.Links().AppendEmpty()
	l.SetTraceID(trace)
	l.SetSpanID(span)
	l.Attributes().PutStr(attrLinkKind, kind)
}

// linkToDetail links to the span of an interval in the trace of its window.
func (w *incidentWriter) linkToDetail(s ptrace.Span, target window.Target, hasSpan bool) {
	if !hasSpan {
		return
	}
	ref := target.Ref
	if target.Folded {
		ref.Seq = jvmthread.NoSeq
	}
	linkTo(s, "detail", TraceID(w.session, target.Window), SpanID(w.session, target.Window, ref))
}

// linkToHold links a wait to the hold whose end ended it, if that has a span.
func (w *incidentWriter) linkToHold(wt *incident.Wait, s ptrace.Span) {
	if h := w.giver(wt); h != nil {
		linkTo(s, wt.Giver.Kind.String(), w.trace, incidentSpanID(w.base, roleHold, h.Thread, h.Start))
	}
}

// giver returns the hold whose end ended a wait, or nil.
func (w *incidentWriter) giver(wt *incident.Wait) *incident.Hold {
	if wt.Giver.Kind == jvmthread.InteractionNone {
		return nil
	}
	for i := len(w.inc.Holds) - 1; i >= 0; i-- {
		h := &w.inc.Holds[i]
		if h.Thread == wt.Giver.From.Thread && h.Of.Is(wt.Interval.Lock) && h.Start < wt.End {
			return h
		}
	}
	return nil
}
