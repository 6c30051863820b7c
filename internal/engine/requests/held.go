// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// held notes a hold that has ended. closed is the interval that ended with it: the next owner's wait, or nothing.
func (t *Tracker) held(h *jvmthread.Hold, closed *jvmthread.Interval) {
	q := t.queues[h.Lock]
	if q == nil {
		return
	}
	span := t.spanOf(q, h.Thread)
	q.add(h, span)
	if !span.IsZero() {
		t.blame(q, h, span, closed)
	}
	q.left = q.left[:0]
}

// blame reports a hold by a request for which others waited.
func (t *Tracker) blame(q *queue, h *jvmthread.Hold, span jvmthread.SpanContext, closed *jvmthread.Interval) {
	held := Held{Hold: *h, Start: h.Start, End: h.End, Span: span, Caused: q.caused(h), Window: t.window}
	if held.Caused < max(t.cfg.MinCaused, time.Nanosecond) {
		return
	}
	th := t.threads[h.Thread]
	if th == nil { // it has ended, or events are missing: it is not known when its span was current
		return
	}
	if t.endRuns(th); !th.limit(&held) || !t.allow(&t.forHolds, h.End, held.Caused) {
		return
	}
	for i, p := range q.left {
		if !held.overlaps(&q.left[i]) {
			continue
		}
		again := t.waits[p.thread] == q || slices.ContainsFunc(q.left[:i], func(o past) bool { return o.thread == p.thread && held.overlaps(&o) })
		held.count(p.span, again)
	}
	for _, w := range q.waiting {
		waiter := t.timeline.Thread(w.thread)
		if w.thread == h.Thread || waiter == nil {
			continue
		}
		iv, detail := waiter.Open(), waiter.Detail()
		if closed.Thread == w.thread { // it got the lock
			iv, detail = closed, waiter.ClosedDetail()
		}
		var of jvmthread.SpanContext
		if detail != nil {
			of = detail.Span
		}
		if iv.Lock == h.Lock && (held.Wait.Seq == jvmthread.NoSeq || iv.Began() < held.Wait.Began()) {
			held.Wait = *iv
		}
		if w.began < h.End {
			held.count(of, false)
		}
	}
	if held.Wait.Seq == jvmthread.NoSeq {
		held.Wait = q.last // all have stopped waiting
	}
	t.did = window.Activities{}
	t.past.During(h.Thread, &t.did, h.Start, h.End)
	held.Doing = t.did.Longest()
	t.report.Holds = append(t.report.Holds, held)
}

// caused returns for how long threads waited during a hold, in sum.
func (q *queue) caused(h *jvmthread.Hold) (sum time.Duration) {
	for i := range q.left {
		sum += max(0, min(q.left[i].ended, h.End).Sub(max(q.left[i].began, h.Start)))
	}
	for i := range q.waiting {
		if w := &q.waiting[i]; w.thread != h.Thread {
			sum += max(0, h.End.Sub(max(w.began, h.Start)))
		}
	}
	return sum
}

// limit limits the part of a hold that is shown to the time in which its span was current: a lock may be kept for longer. Nor does it overlap
// the waits of its thread that were reported, so that a critical path through the request's trace leads through both. It returns false if
// nothing is left.
func (th *thread) limit(held *Held) bool {
	held.Start = max(held.Start, th.waited)
	switch held.Span {
	case th.span:
		held.Start = max(held.Start, th.seen(held.Span, held.Start).since)
	case th.before:
		held.Start, held.End = max(held.Start, th.from), min(held.End, th.until)
	default:
		return false
	}
	return held.Start < held.End
}

// overlaps reports whether a wait lasted during a part of the hold.
func (h *Held) overlaps(p *past) bool { return max(p.began, h.Hold.Start) < min(p.ended, h.Hold.End) }

// count counts a thread that waited, with its span. A thread that waited again is counted once.
func (h *Held) count(of jvmthread.SpanContext, again bool) {
	if !again {
		h.Threads++
	}
	if of.IsZero() {
		return
	}
	if !again {
		h.Requests++
	}
	if len(h.Waiters) < maxWaiters && !slices.Contains(h.Waiters, of) {
		h.Waiters = append(h.Waiters, of)
	}
}
