// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"iter"
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// siblingGap separates a span from the next one of the same thread. Jaeger counts in microseconds, and its search for a critical path
// misreads a child that ends where its sibling begins. The exact time is kept as an attribute.
const siblingGap = jvmthread.Time(time.Microsecond)

type spanKind uint8

const (
	rootSpan spanKind = iota
	pathSpan
	segmentSpan
	threadSpan
	intervalSpan
)

// plan is what one span shows. Which fields are set depends on the kind.
type plan struct {
	kind        spanKind
	ref, parent jvmthread.IntervalRef // the span's IDs are computed from these; those of a segment have its number only
	start, end  jvmthread.Time
	exact       jvmthread.Time         // duration without the gap to the next sibling
	segments    []criticalpath.Segment // of the path
	segment     *criticalpath.Segment
	thread      *window.Lane
	iv          jvmthread.Interval
	lane, at    int                   // where the interval is in the window
	about       jvmthread.IntervalRef // the interval that is looked up

	known       // set by lookUp
	description // set by describe
}

// known is what the window knows of a span's interval.
type known struct {
	links    []link
	causes   []jvmthread.Interaction // what unblocked the thread
	cause    window.Cause            // what ended the wait
	onPath   jvmthread.Time
	slack    time.Duration
	hasSlack bool
	idle     bool
	detail   jvmthread.Detail
	next     jvmthread.ThreadID // the one it waits for in a deadlock

	holders []window.Holder // of a contended wait, longest first

	// Of a segment: the interval it is part of.
	other    jvmthread.Interval
	hasOther bool
}

// link points at a span of this session.
type link struct {
	kind   string
	target window.Target
	cause  *jvmthread.Interaction // nil: the link has neither latency nor confidence
}

// plans yields the plan of each span, parents first. Each is valid until the next one. The caller does not stop early.
func (e *Emitter) plans(w *window.Window, segments []criticalpath.Segment) iter.Seq[*plan] {
	return func(yield func(*plan) bool) {
		e.order()
		yield(e.plan.ofRoot(w, e.early))
		if len(segments) > 0 {
			yield(e.plan.ofPath(w, segments, e.early))
		}
		for i := range segments {
			yield(e.plan.ofSegment(&segments[i], i))
		}
		for n, of := range e.lanes {
			l := w.Lanes[of.index]
			p := e.plan.ofThread(w, l)
			p.start = e.laneStart(n, p.start)
			yield(p)
			for i := range l.Intervals.Len() {
				if l.Kept(i) {
					yield(e.plan.ofInterval(w, of.index, i))
				}
			}
		}
	}
}

// of resets the plan for a span of a kind.
func (p *plan) of(kind spanKind, ref, parent jvmthread.IntervalRef) {
	*p = plan{kind: kind, ref: ref, parent: parent, known: known{links: p.links[:0], causes: p.causes[:0], holders: p.holders[:0]}}
}

func (p *plan) ofRoot(w *window.Window, early jvmthread.Time) *plan {
	p.of(rootSpan, jvmthread.IntervalRef{}, jvmthread.IntervalRef{})
	p.start, p.end = w.Start-early, w.End
	return p
}

// ofPath plans the lane of the critical path. It lasts to the end of the window, although the path's thread may have ended before.
func (p *plan) ofPath(w *window.Window, segments []criticalpath.Segment, early jvmthread.Time) *plan {
	p.of(pathSpan, jvmthread.IntervalRef{}, jvmthread.IntervalRef{})
	p.segments = segments
	p.start, p.end = w.Verdict.Path.Start-early, w.End
	return p
}

func (p *plan) ofSegment(seg *criticalpath.Segment, i int) *plan {
	p.of(segmentSpan, jvmthread.IntervalRef{Seq: jvmthread.Seq(i + 1)}, jvmthread.IntervalRef{})
	p.segment, p.about = seg, jvmthread.IntervalRef{Thread: seg.Thread, Seq: seg.Seq}
	p.start, p.end, p.exact = seg.Start, spanEnd(seg.Start, seg.End), seg.End-seg.Start
	return p
}

// ofThread plans the span around a thread's intervals. With a critical path, no thread lasts to the end of the window: only the path's lane
// does, so that Jaeger follows it in its own search for a critical path.
func (p *plan) ofThread(w *window.Window, l *window.Lane) *plan {
	p.of(threadSpan, jvmthread.IntervalRef{Thread: l.Thread}, jvmthread.IntervalRef{})
	p.thread = l
	p.start, p.end = w.Start, w.Start
	least := w.Start
	if n := l.Intervals.Len(); n > 0 {
		p.start, _ = w.Clip(l.Intervals.At(0))
		least, p.end = w.Clip(l.Intervals.At(n - 1))
		least = spanEnd(least, p.end)
		if !l.Kept(0) { // folded, and with it the link to the thread that started this one
			p.about = jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals.Seq(0)}
		}
	}
	if w.Verdict != nil {
		p.end = max(least, min(p.end, w.End-siblingGap))
	}
	return p
}

// ofInterval plans the span of an interval, or of the piece of it that lies in the window.
func (p *plan) ofInterval(w *window.Window, lane, at int) *plan {
	iv := w.Lanes[lane].Intervals.At(at)
	p.of(intervalSpan, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, jvmthread.IntervalRef{Thread: iv.Thread})
	p.iv, p.lane, p.at, p.about = iv, lane, at, p.ref
	start, end := w.Clip(iv)
	p.start, p.end, p.exact = start, spanEnd(start, end), end-start
	return p
}

// spanEnd is where the span of an interval or of a segment ends. Jaeger warns about spans that end where they begin.
func spanEnd(start, end jvmthread.Time) jvmthread.Time {
	return max(min(start+1, end), end-siblingGap)
}

// lookUp finds what the window knows of the interval that the span is about.
func (p *plan) lookUp(w *window.Window) {
	switch p.kind { //exhaustive:enforce
	case rootSpan, pathSpan:
		return
	case segmentSpan:
		p.other, p.hasOther = w.Interval(p.about)
		if t, ok := w.Target(p.about, p.segment.Start); ok {
			p.links = append(p.links, link{kind: "critical_path", target: t})
		}
		return
	case threadSpan, intervalSpan:
	}
	p.causes = w.AppendCauses(p.causes, p.about)
	for i := range p.causes {
		ia := &p.causes[i]
		if p.kind == threadSpan && ia.Kind != jvmthread.InteractionStart {
			continue
		}
		if t, ok := w.Target(ia.From, ia.CauseTime); ok {
			p.links = append(p.links, link{kind: ia.Kind.String(), target: t, cause: ia})
		}
	}
	if p.kind == intervalSpan {
		p.lookUpInterval(w)
	}
}

func (p *plan) lookUpInterval(w *window.Window) {
	iv := &p.iv
	if next, ok := w.NextInCycle(*iv); ok {
		p.next = next.Thread
		p.links = append(p.links, link{kind: "deadlock", target: window.Target{Window: w.Start, Ref: next}})
	}
	p.holders = w.Holders(iv, p.holders, 1)
	p.detail = w.Detail(*iv)
	if t, ok := w.Earlier(*iv); ok {
		p.links = append(p.links, link{kind: "continues", target: t})
	}
	p.onPath = w.OnPath(p.lane, p.at)
	if iv.Wait != jvmthread.WaitNone {
		p.idle = w.Idle(p.lane, p.at)
		if iv.Wait.Contended() {
			p.slack, p.hasSlack = w.Slack(*iv)
		}
		p.cause = window.CauseOf(iv, p.causes)
	}
}
