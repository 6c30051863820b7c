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
	if th := t.threads[h.Thread]; th != nil && !th.limit(&held) || !t.allow(&t.forHolds, h.End, held.Caused) {
		return
	}
	for _, p := range q.left {
		held.count(p.began, p.ended, p.span)
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
		held.count(w.began, h.End, of)
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
		held.End = min(held.End, th.until)
	default:
		return false
	}
	return held.Start < held.End
}

// count counts a wait with its span if it overlaps the hold.
func (h *Held) count(began, ended jvmthread.Time, of jvmthread.SpanContext) {
	if min(ended, h.Hold.End) <= max(began, h.Hold.Start) {
		return
	}
	h.Threads++
	if of.IsZero() {
		return
	}
	h.Requests++
	if len(h.Waiters) < maxWaiters && !slices.Contains(h.Waiters, of) {
		h.Waiters = append(h.Waiters, of)
	}
}
