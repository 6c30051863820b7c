// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"iter"
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// siblingGap separates a span from the next one of the same thread. Jaeger counts in microseconds, and its search for a critical path
// misreads a child that ends where its sibling begins. The exact time is kept as an attribute.
const siblingGap = jvmthread.Time(time.Microsecond)

// pathLane is the thread under which the spans of the critical path have their IDs: no Java thread has it.
const pathLane jvmthread.ThreadID = math.MaxUint64

type spanKind uint8

const (
	rootSpan spanKind = iota
	pathSpan
	segmentSpan
	threadSpan
	intervalSpan
)

// plan is what one span shows, as looked up in the window. Which fields are set depends on the kind.
type plan struct {
	kind        spanKind
	ref, parent jvmthread.IntervalRef // the span's IDs are computed from these
	start, end  jvmthread.Time
	exact       jvmthread.Time // duration without the gap to the next sibling
	links       []link

	segments []criticalpath.Segment // of the path
	segment  *criticalpath.Segment
	lane     *window.Lane        // of a thread
	iv       *jvmthread.Interval // of an interval

	causes   []jvmthread.Interaction // what unblocked the thread
	cause    window.Cause            // what ended the wait
	onPath   jvmthread.Time
	slack    time.Duration
	hasSlack bool
	idle     bool
	detail   jvmthread.Detail
	next     jvmthread.ThreadID // the one it waits for in a deadlock

	// Of a segment: the interval it is part of. Of a wait for a lock: what the owner was doing when the wait began.
	other    jvmthread.Interval
	hasOther bool

	// Set by describe.
	name        string
	explanation string        // of the links
	at, ownerAt wording.Place // of the wait in the code, and what the owner of the lock was at then
}

// link points at a span of this session.
type link struct {
	kind   string
	target window.Target
	cause  *jvmthread.Interaction // nil: the link has neither latency nor confidence
}

// plans yields the plan of each span, parents first. Each is valid until the next one.
func (e *Emitter) plans(w *window.Window, segments []criticalpath.Segment) iter.Seq[*plan] {
	return func(yield func(*plan) bool) {
		p := &e.plan
		p.planRoot(w)
		ok := yield(p)
		if len(segments) > 0 {
			p.planPath(w, segments)
			ok = ok && yield(p)
		}
		for i := range segments {
			p.planSegment(w, &segments[i], i)
			ok = ok && yield(p)
		}
		for n, l := range w.Lanes {
			if l.Hidden || !ok {
				continue
			}
			p.planThread(w, l)
			ok = yield(p)
			for i := range l.Intervals {
				if ok && l.Kept(i) {
					p.planInterval(w, n, i)
					ok = yield(p)
				}
			}
		}
	}
}

// begin resets the plan for another span.
func (p *plan) begin(kind spanKind, ref, parent jvmthread.IntervalRef) {
	*p = plan{kind: kind, ref: ref, parent: parent, links: p.links[:0]}
}

func (p *plan) planRoot(w *window.Window) {
	p.begin(rootSpan, jvmthread.IntervalRef{}, jvmthread.IntervalRef{})
	p.start, p.end = w.Start, w.End
}

// planPath plans the lane of the critical path. It lasts to the end of the window, although the path's thread may have ended before.
func (p *plan) planPath(w *window.Window, segments []criticalpath.Segment) {
	p.begin(pathSpan, jvmthread.IntervalRef{Thread: pathLane}, jvmthread.IntervalRef{})
	p.segments = segments
	p.start, p.end = w.Verdict.Path.Start, w.End
}

func (p *plan) planSegment(w *window.Window, seg *criticalpath.Segment, i int) {
	p.begin(segmentSpan, jvmthread.IntervalRef{Thread: pathLane, Seq: jvmthread.Seq(i + 1)}, jvmthread.IntervalRef{Thread: pathLane})
	p.segment = seg
	p.start, p.end, p.exact = seg.Start, spanEnd(seg.Start, seg.End), seg.End-seg.Start
	of := jvmthread.IntervalRef{Thread: seg.Thread, Seq: seg.Seq}
	p.other, p.hasOther = w.Interval(of)
	if t, ok := w.Target(of, seg.Start); ok {
		p.links = append(p.links, link{kind: "critical_path", target: t})
	}
}

// planThread plans the span around a thread's intervals. With a critical path, no thread lasts to the end of the window: only the path's lane
// does, so that Jaeger follows it in its own search for a critical path.
func (p *plan) planThread(w *window.Window, l *window.Lane) {
	p.begin(threadSpan, jvmthread.IntervalRef{Thread: l.Thread}, jvmthread.IntervalRef{})
	p.lane = l
	p.start, p.end = w.Start, w.Start
	least := w.Start
	if n := len(l.Intervals); n > 0 {
		p.start, _ = w.Clip(l.Intervals[0])
		least, p.end = w.Clip(l.Intervals[n-1])
		least = spanEnd(least, p.end)
		if !l.Kept(0) { // folded, and with it the link to the thread that started this one
			p.causes = w.Causes(jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals[0].Seq})
			p.linkTo(w, jvmthread.InteractionStart)
		}
	}
	if w.Verdict != nil {
		p.end = max(least, min(p.end, w.End-siblingGap))
	}
}

// planInterval plans the span of an interval, or of the piece of it that lies in the window.
func (p *plan) planInterval(w *window.Window, lane, at int) {
	iv := &w.Lanes[lane].Intervals[at]
	p.begin(intervalSpan, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, jvmthread.IntervalRef{Thread: iv.Thread})
	p.iv = iv
	start, end := w.Clip(*iv)
	p.start, p.end, p.exact = start, spanEnd(start, end), end-start
	p.detail = w.Detail(*iv)
	p.onPath = w.OnPath(lane, at)
	p.causes = w.Causes(p.ref)
	if stateWords[iv.State].wait != "" {
		p.idle = w.Idle(*iv)
		p.slack, p.hasSlack = w.Slack(*iv)
		p.cause = window.CauseOf(iv, p.causes)
	}
	if len(p.causes) > 0 && iv.State == jvmthread.StateBlocked && iv.Peer != jvmthread.NoThread {
		p.other, p.hasOther = w.Doing(iv.Peer, iv.Start)
	}
	p.linkTo(w, anyKind)
	if next, ok := w.NextInCycle(*iv); ok {
		p.next = next.Thread
		p.links = append(p.links, link{kind: "deadlock", target: window.Target{Window: w.Start, Ref: next}})
	}
	if t, ok := w.Earlier(*iv); ok {
		p.links = append(p.links, link{kind: "continues", target: t})
	}
}

// anyKind lets linkTo link to all causes.
const anyKind = jvmthread.InteractionNone

// linkTo adds links to the spans of causes of a kind.
func (p *plan) linkTo(w *window.Window, kind jvmthread.InteractionKind) {
	for i := range p.causes {
		ia := &p.causes[i]
		if kind != anyKind && ia.Kind != kind {
			continue
		}
		if t, ok := w.Target(ia.From, ia.CauseTime); ok {
			p.links = append(p.links, link{kind: ia.Kind.String(), target: t, cause: ia})
		}
	}
}

// spanEnd is where the span of an interval or of a segment ends. Jaeger warns about spans that end where they begin.
func spanEnd(start, end jvmthread.Time) jvmthread.Time {
	return max(min(start+1, end), end-siblingGap)
}
