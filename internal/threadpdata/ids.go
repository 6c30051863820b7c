// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/binary"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// IDs are computed, not random: the same session, window, thread and interval always have the same IDs. So a link can be written before
// its target, an exemplar agrees with a span of another component, and sending a window twice does no harm.

// TraceID is the ID of the trace of a session's window that starts at the given time.
func TraceID(s jvmthread.SessionID, start jvmthread.Time) pcommon.TraceID {
	var id pcommon.TraceID
	window := hash(sessionHash(s), uint64(start))
	binary.BigEndian.PutUint64(id[:8], hash(window, 1))
	binary.BigEndian.PutUint64(id[8:], hash(window, 2))
	id[0] = notZero(id[0])
	return id
}

// SpanID is the ID of the span of an interval, or of a piece of it, in the window that starts at the given time. Seq 0 is the thread itself,
// thread 0 the window's root.
func SpanID(s jvmthread.SessionID, start jvmthread.Time, ref jvmthread.IntervalRef) pcommon.SpanID {
	return spanID(windowHash(s, start), ref)
}

// Window computes the IDs of the spans of one window.
type Window uint64

// WindowOf returns the window of a session that starts at the given time.
func WindowOf(s jvmthread.SessionID, start jvmthread.Time) Window {
	return Window(windowHash(s, start))
}

// SpanID is that of SpanID in the window.
func (w Window) SpanID(ref jvmthread.IntervalRef) pcommon.SpanID { return spanID(uint64(w), ref) }

// RequestWaitID is the ID of the span of a wait in the trace of the request that waited.
func RequestWaitID(s jvmthread.SessionID, ref jvmthread.IntervalRef) pcommon.SpanID {
	return asSpanID(requestWaitID(s, ref))
}

func requestWaitID(s jvmthread.SessionID, ref jvmthread.IntervalRef) uint64 {
	return hash(sessionHash(s), uint64(ref.Thread), uint64(ref.Seq), 5)
}

// DeadlockID is the ID of a deadlock, unique across sessions.
func DeadlockID(s jvmthread.SessionID, c jvmthread.Cycle) string {
	return fmt.Sprintf("%016x", hash(sessionHash(s), 4, uint64(c)))
}

func carrierID(c *Carrier) pcommon.SpanID {
	what := uint64(4)
	if c.End == EndLost && len(c.Events) == 0 { // its number is that of the batch with which the JVM may return
		what = 6
	}
	return asSpanID(hash(sessionHash(c.Session), c.Batch, what))
}

// windowHash is what the IDs of all spans of a window start from.
func windowHash(s jvmthread.SessionID, start jvmthread.Time) uint64 {
	return hash(sessionHash(s), uint64(start), 3)
}

func spanID(window uint64, ref jvmthread.IntervalRef) pcommon.SpanID {
	return asSpanID(hash(window, uint64(ref.Thread), uint64(ref.Seq)))
}

// pathSpanID is the ID of the span of the critical path, or of one of its segments, which are numbered from 1.
func pathSpanID(window uint64, segment jvmthread.Seq) pcommon.SpanID {
	return asSpanID(hash(window, 1, uint64(segment), 7))
}

func asSpanID(h uint64) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], h)
	id[0] = notZero(id[0])
	return id
}

func sessionHash(s jvmthread.SessionID) uint64 {
	return hash(0x9e3779b97f4a7c15, binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:]))
}

// hash adds numbers to a hash with the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func hash(h uint64, vs ...uint64) uint64 {
	for _, v := range vs {
		h ^= v
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
		h += 0x9e3779b97f4a7c15
	}
	return h
}

// notZero keeps the first byte from being zero: Tempo does not find IDs with leading zeros in queries of links.
func notZero(b byte) byte {
	if b == 0 {
		return 0xff
	}
	return b
}

// connect writes the span's IDs and its links to other spans of the session.
func (e *Emitter) connect(p *plan, s ptrace.Span) {
	s.SetTraceID(e.trace)
	switch p.kind {
	case rootSpan:
		s.SetSpanID(spanID(e.base, p.ref))
	case pathSpan:
		s.SetSpanID(pathSpanID(e.base, jvmthread.NoSeq))
		s.SetParentSpanID(spanID(e.base, p.parent))
	case segmentSpan:
		s.SetSpanID(pathSpanID(e.base, p.ref.Seq))
		s.SetParentSpanID(pathSpanID(e.base, jvmthread.NoSeq))
	case threadSpan, intervalSpan:
		s.SetSpanID(spanID(e.base, p.ref))
		s.SetParentSpanID(spanID(e.base, p.parent))
	}
	links := s.Links()
	links.EnsureCapacity(len(p.links))
	for i := range p.links {
		e.writeLink(&p.links[i], links.AppendEmpty())
	}
}

// writeLink points at a span, or at that of its thread if it is folded.
func (e *Emitter) writeLink(l *link, to ptrace.SpanLink) {
	ref := l.target.Ref
	if l.target.Folded {
		ref.Seq = jvmthread.NoSeq
	}
	if l.target.Window == e.window.Start {
		to.SetTraceID(e.trace)
		to.SetSpanID(spanID(e.base, ref))
	} else {
		to.SetTraceID(TraceID(e.session, l.target.Window))
		to.SetSpanID(SpanID(e.session, l.target.Window, ref))
	}
	a := to.Attributes()
	if l.cause == nil {
		a.PutStr(attrLinkKind, l.kind)
		return
	}
	a.EnsureCapacity(2)
	a.PutStr(attrLinkKind, l.kind)
	a.PutInt(attrLinkLatency, int64(l.cause.Latency()))
	if l.cause.Confidence != jvmthread.ConfidenceExact {
		a.PutStr(attrLinkConfidence, l.cause.Confidence.String())
	}
}
