// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// pathLane is the thread under which the spans of the critical path have their ids: no Java thread has it.
const pathLane jvmthread.ThreadID = math.MaxUint64

// maxSegments bounds the spans of a path. Jaeger's own search for a critical path overflows at some thousand siblings.
const maxSegments = 1000

// Segments chooses the segments of a window's path that get a span: the longest, in the order of time, as many as a share of the budget
// allows. The budget is that of all spans of the window, 0 for none.
func Segments(w *window.Window, budget int) []criticalpath.Segment {
	if w.Verdict == nil {
		return nil
	}
	all, count := w.Verdict.Path.Segments, segmentCount(w, budget)
	if len(all) == count {
		return all
	}
	chosen := slices.Clone(all)
	slices.SortStableFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	chosen = chosen[:count]
	slices.SortFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return chosen
}

// segmentCount is how many segments Segments chooses.
func segmentCount(w *window.Window, budget int) int {
	if w.Verdict == nil {
		return 0
	}
	limit := maxSegments
	if budget > 0 {
		limit = min(limit, budget/4)
	}
	return min(len(w.Verdict.Path.Segments), limit)
}

// path writes the lane of the critical path: a span for the whole, and one below it for each segment.
func (e *Emitter) path(segments []criticalpath.Segment, dst ptrace.SpanSlice, root pcommon.SpanID) {
	v := e.window.Verdict
	parent := spanID(e.session, e.window.Start, jvmthread.IntervalRef{Thread: pathLane})
	s := dst.AppendEmpty()
	e.span(s, parent, root, "critical path", v.Path.Start, e.window.End) // to the root's end, though the path's thread may have ended before
	a := s.Attributes()
	a.EnsureCapacity(6)
	a.PutInt(attrPathThreadID, int64(v.Path.Thread))
	a.PutStr(attrPathThreadName, e.threadName(v.Path.Thread))
	a.PutInt(attrIntervalTime, int64(v.Path.End-v.Path.Start))
	if folded := len(v.Path.Segments) - len(segments); folded > 0 {
		var shown jvmthread.Time
		for _, seg := range segments {
			shown += seg.End - seg.Start
		}
		a.PutInt(attrFoldedCount, int64(folded))
		a.PutInt(attrFoldedTime, int64(v.Path.End-v.Path.Start-shown))
	}
	e.sites(s)
	for i := range segments {
		e.segment(&segments[i], i, dst.AppendEmpty(), parent)
	}
}

// maxSites is how many call sites the lane tells of.
const maxSites = 10

// sites tells at which places in the code the path's thread, and those it waited for, waited.
func (e *Emitter) sites(s ptrace.Span) {
	p := e.window.Verdict.Path
	for i, site := range e.window.Verdict.Sites() {
		if i >= maxSites || site.Time == 0 {
			return
		}
		ev := s.Events().AppendEmpty()
		ev.SetName(attrSiteEvent)
		ev.SetTimestamp(stamp(p.Start))
		a := ev.Attributes()
		a.EnsureCapacity(6)
		a.PutStr(attrState, site.Group.State.String())
		if site.Group.Lock.Class != jvmthread.NoClass {
			a.PutStr(attrLockClass, e.sym.Class(site.Group.Lock.Class))
		}
		if site.Group.Stack != jvmthread.NoStack {
			place := e.place(site.Group.Stack)
			a.PutStr(attrFunction, place.Function)
			if place.Line > 0 {
				a.PutInt(attrLine, int64(place.Line))
			}
		}
		a.PutInt(attrPathTime, int64(site.Time))
		a.PutDouble(attrShare, float64(site.Time)/float64(p.End-p.Start))
	}
}

func (e *Emitter) segment(seg *criticalpath.Segment, i int, s ptrace.Span, parent pcommon.SpanID) {
	v := e.window.Verdict
	ref := jvmthread.IntervalRef{Thread: seg.Thread, Seq: seg.Seq}
	id := spanID(e.session, e.window.Start, jvmthread.IntervalRef{Thread: pathLane, Seq: jvmthread.Seq(i + 1)})
	e.span(s, id, parent, e.threadName(seg.Thread)+": "+e.segmentName(seg), seg.Start, spanEnd(seg.Start, seg.End))
	a := s.Attributes()
	a.EnsureCapacity(6)
	a.PutStr(attrPathKind, seg.Kind.String())
	a.PutInt(attrIntervalTime, int64(seg.End-seg.Start))
	a.PutInt(attrPathThreadID, int64(seg.Thread))
	a.PutStr(attrPathThreadName, e.threadName(seg.Thread))
	e.text.Reset()
	for wait := range v.Path.Chain(*seg) {
		if e.text.Len() > 0 {
			e.text.WriteString(", ")
		}
		e.text.WriteString("while " + e.threadName(wait.Ref.Thread) + " was in: " + wording.Verb(wait.State))
		if wait.Lock.Class != jvmthread.NoClass {
			e.text.WriteString(" " + e.simpleName(wait.Lock.Class))
		}
	}
	if e.text.Len() > 0 {
		a.PutStr(attrExplanation, e.text.String())
	}
	if t, ok := e.window.Target(ref, seg.Start); ok {
		e.linkTo(s, "critical_path", t)
	}
}

// segmentName is what the thread was doing, or why nobody knows what to wait for.
func (e *Emitter) segmentName(seg *criticalpath.Segment) string {
	switch seg.Kind { //exhaustive:enforce
	case criticalpath.KindRun:
		return "runnable"
	case criticalpath.KindWakeLatency:
		return "wake-up latency"
	case criticalpath.KindStartLatency:
		return "start-up latency"
	case criticalpath.KindCycle, criticalpath.KindTooDeep, criticalpath.KindCut:
		return "unexplained (" + seg.Kind.String() + ")"
	case criticalpath.KindUnknown, criticalpath.KindSleep, criticalpath.KindSuspended, criticalpath.KindBlockedUnknown,
		criticalpath.KindWaitUnknown, criticalpath.KindTimer, criticalpath.KindDeadlock:
	}
	if iv, ok := e.window.Interval(jvmthread.IntervalRef{Thread: seg.Thread, Seq: seg.Seq}); ok {
		return e.name(&iv)
	}
	return "unknown"
}

// Select decides what a window's trace shows within a budget of spans, 0 for all: it finds the critical path (a nil Finder finds none), and
// selects the intervals that are kept. Whoever does the same with the same window knows which spans there are.
func Select(w *window.Window, finder *window.Finder, budget int) {
	finder.Find(w)
	reserved := segmentCount(w, budget)
	if reserved > 0 {
		reserved++ // the lane
	}
	w.Select(budget, reserved)
}

// Prepare is Select for one who makes the spans: it returns the segments of the path that get one.
func Prepare(w *window.Window, finder *window.Finder, budget int) []criticalpath.Segment {
	Select(w, finder, budget)
	return Segments(w, budget)
}
