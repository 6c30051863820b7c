// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wording"
)

// ScopeSpans is the name of the scope of the spans that people look at.
const ScopeSpans = "github.com/weft-otel/weft"

// siblingGap is left between a span and the next one of the same thread. Jaeger counts in microseconds and takes a child that ends where
// its sibling begins for a part of something else when it looks for a critical path. The exact time is kept as an attribute.
const siblingGap = time.Microsecond

// maxLockEvents is how many lock classes the root speaks of.
const maxLockEvents = 10

// maxHintEvents is how many hints of one window the root tells.
const maxHintEvents = 10

// Emitter makes spans of the windows of one session. One goroutine owns it.
type Emitter struct {
	session jvmthread.SessionID
	sym     *symbols.Table
	places  map[jvmthread.StackID]wording.Place
	names   map[nameKey]string
	trace   pcommon.TraceID // of the window that is being written
	window  *window.Window
	text    strings.Builder
}

// NewEmitter returns an Emitter for a session whose texts are in the table.
func NewEmitter(session jvmthread.SessionID, sym *symbols.Table) *Emitter {
	return &Emitter{session: session, sym: sym, places: make(map[jvmthread.StackID]wording.Place), names: make(map[nameKey]string)}
}

// Append writes the trace of a window: a root, the lane of the critical path with the given segments (of Segments), a span for each thread,
// and below it a span for each interval that the window keeps.
// The same window always gives the same spans in the same order.
func (e *Emitter) Append(w *window.Window, segments []criticalpath.Segment, dst ptrace.SpanSlice) {
	e.window, e.trace = w, traceID(e.session, w.Start)
	dst.EnsureCapacity(dst.Len() + countSpans(w) + len(segments) + 1)
	root := spanID(e.session, w.Start, jvmthread.IntervalRef{})
	e.root(w, dst.AppendEmpty(), root)
	if len(segments) > 0 {
		e.path(segments, dst, root)
	}
	for n, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		parent := spanID(e.session, w.Start, jvmthread.IntervalRef{Thread: l.Thread})
		e.thread(l, dst.AppendEmpty(), root, parent)
		for i := range l.Intervals {
			if l.Kept(i) {
				s := dst.AppendEmpty()
				e.interval(&l.Intervals[i], s, parent)
				if on := w.OnPath(n, i); on > 0 {
					s.Attributes().PutBool(attrPath, true)
					s.Attributes().PutInt(attrPathTime, int64(on))
				}
			}
		}
	}
	e.window = nil
}

func countSpans(w *window.Window) int {
	n := 1
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		n++
		for i := range l.Intervals {
			if l.Kept(i) {
				n++
			}
		}
	}
	return n
}

// span fills what all spans have.
func (e *Emitter) span(s ptrace.Span, id, parent pcommon.SpanID, name string, start, end jvmthread.Time) {
	s.SetTraceID(e.trace)
	s.SetSpanID(id)
	s.SetParentSpanID(parent)
	s.SetName(name)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(stamp(start))
	s.SetEndTimestamp(stamp(end))
}

func stamp(t jvmthread.Time) pcommon.Timestamp { return pcommon.Timestamp(t) }

func (e *Emitter) root(w *window.Window, s ptrace.Span, id pcommon.SpanID) {
	e.span(s, id, pcommon.SpanID{}, "threads", w.Start, w.End)
	s.SetKind(ptrace.SpanKindServer)
	a := s.Attributes()
	a.EnsureCapacity(16)
	a.PutStr(attrSessionID, e.session.String())
	a.PutStr(attrWindowCut, string(w.Cut))
	a.PutInt(attrThreads, int64(len(w.Lanes)))
	putCount(a, attrEvents, w.Events)
	putCount(a, attrEventsLost, w.Lost)
	putCount(a, attrEventsMissed, w.Missed)
	if f := w.FoldedThreads(); f.Count > 0 {
		putCount(a, attrFoldedThreads, f.Count)
		a.PutInt(attrFoldedTime, int64(f.Time))
	}
	putTotals(a, &w.Totals)
	for i := range w.Locks[:min(len(w.Locks), maxLockEvents)] {
		e.lockEvent(&w.Locks[i], s.Events().AppendEmpty())
	}
	for i := range w.Deadlocks {
		e.deadlockEvent(&w.Deadlocks[i], s.Events().AppendEmpty())
	}
	for i := range w.Hints[:min(len(w.Hints), maxHintEvents)] {
		e.hintEvent(&w.Hints[i], s.Events().AppendEmpty())
	}
	if w.Totals[jvmthread.StateDeadlocked].Time > 0 {
		s.Status().SetCode(ptrace.StatusCodeError)
		s.Status().SetMessage("deadlock")
	}
}

func (e *Emitter) thread(l *window.Lane, s ptrace.Span, root, id pcommon.SpanID) {
	start, end, least := e.window.Start, e.window.Start, e.window.Start
	if n := len(l.Intervals); n > 0 {
		start, _ = e.window.Clip(l.Intervals[0])
		least, end = e.window.Clip(l.Intervals[n-1])
		least = spanEnd(least, end)
	}
	if e.window.Verdict != nil { // the lane alone lasts to the end: what Jaeger takes for the critical path is then ours
		end = max(least, min(end, e.window.End-jvmthread.Time(siblingGap)))
	}
	e.span(s, id, root, e.threadName(l.Thread), start, end)
	a := s.Attributes()
	a.EnsureCapacity(16)
	e.putThread(a, l.Thread)
	putTotals(a, &l.Totals)
	if l.Folded.Count > 0 {
		putCount(a, attrFoldedCount, l.Folded.Count)
		a.PutInt(attrFoldedTime, int64(l.Folded.Time))
	}
	if len(l.Intervals) > 0 && !l.Kept(0) { // its first interval is folded, and with it the link to whoever started the thread
		for _, ia := range e.window.Causes(jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals[0].Seq}) {
			if ia.Kind == jvmthread.InteractionStart {
				e.link(s, &ia)
			}
		}
	}
}

func (e *Emitter) putThread(a pcommon.Map, id jvmthread.ThreadID) {
	th := e.sym.Thread(id)
	a.PutInt(attrThreadID, int64(id))
	a.PutStr(attrThreadName, e.threadName(id))
	if th.Group != "" {
		a.PutStr(attrThreadGroup, th.Group)
	}
	a.PutBool(attrThreadDaemon, th.Daemon)
	if th.Virtual {
		a.PutBool(attrVirtual, true)
	}
	if th.Carrier {
		a.PutBool(attrCarrierThread, true)
	}
}

// putTotals writes the sums of the states that occurred.
func putTotals(a pcommon.Map, t *window.Totals) {
	for s := range attrTime {
		if t[s].Count > 0 || t[s].Time > 0 {
			putCount(a, attrCount[s], t[s].Count)
			a.PutInt(attrTime[s], int64(t[s].Time))
		}
	}
}

func putCount(a pcommon.Map, key string, n uint64) { a.PutInt(key, int64(n)) }
