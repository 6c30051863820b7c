// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"slices"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// queue is a lock on which threads are blocked: who waits, and who has held it since the first of them began to.
type queue struct {
	lock    jvmthread.LockID
	waiting []waiter
	left    []past                  // waits that ended without the lock, until the next hold ends
	holds   []jvmthread.Hold        // in the order of their ends
	spans   []jvmthread.SpanContext // of the holds
	owner   jvmthread.ThreadID      // the owner whose span is known
	span    jvmthread.SpanContext   // of the owner
	last    jvmthread.Interval      // of the thread that began to wait last; its end is not known
}

// waiter is a thread that waits.
type waiter struct {
	thread jvmthread.ThreadID
	began  jvmthread.Time
}

// past is a wait that has ended.
type past struct {
	thread       jvmthread.ThreadID
	began, ended jvmthread.Time
	span         jvmthread.SpanContext
}

// Limits of what a queue remembers. The oldest holds are forgotten: who held the lock then is not known.
const (
	maxQueues = 1 << 16
	maxHolds  = 1 << 12
	maxLeft   = 1 << 10
)

// begun notes that a thread waits for a lock, and the span of its owner.
func (t *Tracker) begun(th *timeline.Thread) {
	open := th.Open()
	t.remove(open.Thread)
	q := t.queues[open.Lock]
	if q == nil {
		if open.Lock.IsZero() || len(t.queues) >= maxQueues {
			return
		}
		if n := len(t.spare); n > 0 {
			q, t.spare = t.spare[n-1], t.spare[:n-1]
		} else {
			q = new(queue)
		}
		q.lock = open.Lock
		t.queues[open.Lock] = q
	}
	q.waiting = append(q.waiting, waiter{open.Thread, open.Start})
	t.waits[open.Thread] = q
	q.last = *open
	if d := th.Detail(); d != nil {
		t.owned(open, d.OwnerSpan)
	}
}

// owned notes the span of the thread that a wait names as the owner of its lock.
func (t *Tracker) owned(wait *jvmthread.Interval, span jvmthread.SpanContext) {
	if q := t.queues[wait.Lock]; q != nil && wait.Wait.Contended() && wait.Peer != jvmthread.NoThread && !span.IsZero() {
		q.owner, q.span = wait.Peer, span
		if th := t.thread(wait.Peer); th.span.IsZero() { // from now on it reports when the span is no longer current
			th.span = span
			th.seen(span, wait.Start)
		}
	}
}

// leave notes that a thread no longer waits, whatever it does now. If it got the lock, its own span is that of the next hold.
func (t *Tracker) leave(th *timeline.Thread, closed *jvmthread.Interval) {
	q, began := t.remove(th.Open().Thread)
	if q == nil || len(q.waiting) == 0 {
		return
	}
	var span jvmthread.SpanContext
	if d := th.ClosedDetail(); d != nil {
		span = d.Span
	}
	waited := closed.Lock == q.lock && window.HasHolders(closed.Wait)
	switch {
	case waited && !closed.Marks.Has(jvmthread.MarkTimedOut) && !closed.Marks.Has(jvmthread.MarkInterrupted):
		q.owner, q.span = closed.Thread, span
	case waited && len(q.left) < maxLeft:
		q.left = append(q.left, past{closed.Thread, began, closed.End, span})
	}
}

// remove takes a thread out of its queue, which is dropped if it is empty, and returns since when it waited; nil if it is in none.
func (t *Tracker) remove(id jvmthread.ThreadID) (q *queue, began jvmthread.Time) {
	if q = t.waits[id]; q == nil {
		return nil, 0
	}
	delete(t.waits, id)
	at := slices.IndexFunc(q.waiting, func(w waiter) bool { return w.thread == id })
	began = q.waiting[at].began
	q.waiting = slices.Delete(q.waiting, at, at+1)
	if len(q.waiting) == 0 {
		t.drop(q)
	}
	return q, began
}

// drop forgets a lock for which no thread waits.
func (t *Tracker) drop(q *queue) {
	delete(t.queues, q.lock)
	const few = 64
	if len(t.spare) < few && cap(q.holds) <= few {
		*q = queue{waiting: q.waiting[:0], left: q.left[:0], holds: q.holds[:0], spans: q.spans[:0]}
		t.spare = append(t.spare, q)
	}
}

// add notes a hold that has ended.
func (q *queue) add(h *jvmthread.Hold, span jvmthread.SpanContext) {
	if len(q.holds) == maxHolds {
		q.holds = slices.Delete(q.holds, 0, maxHolds/2)
		q.spans = slices.Delete(q.spans, 0, maxHolds/2)
	}
	at := len(q.holds)
	for at > 0 && q.holds[at-1].End > h.End {
		at--
	}
	q.holds = slices.Insert(q.holds, at, *h)
	q.spans = slices.Insert(q.spans, at, span)
}

// forget drops the holds that ended before all waits of the queue began.
func (q *queue) forget() {
	first := jvmthread.Time(1<<63 - 1)
	for _, w := range q.waiting {
		first = min(first, w.began)
	}
	n := 0
	for n < len(q.holds) && q.holds[n].End <= first {
		n++
	}
	q.holds, q.spans = slices.Delete(q.holds, 0, n), slices.Delete(q.spans, 0, n)
}

// spanOf returns the span of a thread that holds the lock of a queue.
func (t *Tracker) spanOf(q *queue, id jvmthread.ThreadID) jvmthread.SpanContext {
	if q.owner == id && !q.span.IsZero() {
		return q.span
	}
	if th := t.timeline.Thread(id); th != nil {
		return th.Span()
	}
	return jvmthread.SpanContext{}
}

// holdersOf finds who held what a wait was for. The result is valid until the next call.
func (t *Tracker) holdersOf(iv *jvmthread.Interval, start jvmthread.Time, causes []jvmthread.Interaction) (out []Holder) {
	if !window.HasHolders(iv.Wait) {
		return nil
	}
	q := t.queues[iv.Lock]
	t.holds, t.spans = t.holds[:0], t.spans[:0]
	if q != nil {
		first := sort.Search(len(q.holds), func(i int) bool { return q.holds[i].End > start })
		t.holds, t.spans = append(t.holds, q.holds[first:]...), append(t.spans, q.spans[first:]...)
	}
	t.holds = t.binder.AppendOpen(t.holds, iv.Lock, iv.End)
	if q != nil {
		for i := len(t.spans); i < len(t.holds); i++ {
			t.spans = append(t.spans, t.spanOf(q, t.holds[i].Thread))
			t.returned(&t.holds[i], &t.spans[i])
		}
	}
	t.holders = window.AppendHolders(t.holders[:0], iv.Thread, start, iv.End, t.holds)
	if len(t.holders) == 0 {
		t.holders = window.AppendSupposedHolder(t.holders, t.past, iv, start, iv.End, causes, &t.did)
	} else {
		window.FindDoing(t.holders[:1], t.past, start, iv.End, t.holds, &t.did)
	}
	for i := range t.holders[:min(len(t.holders), maxHolders)] {
		h := &t.holders[i]
		out = append(out, Holder{*h, t.spanDuring(h.Thread, start)})
		if out[i].Span.IsZero() && q != nil && h.Time == 0 {
			out[i].Span = t.spanOf(q, h.Thread)
		}
	}
	return out
}

// returned ends the hold of a permit or a pooled object with the request in which it began: no event shows its return while no thread waits.
func (t *Tracker) returned(h *jvmthread.Hold, span *jvmthread.SpanContext) {
	if th := t.threads[h.Thread]; th != nil && h.Start < th.idle && h.Marks&jvmthread.HoldShared != 0 {
		h.End, *span = min(h.End, th.idle), th.last
	}
}

// maxHolders bounds the holders of a wait that are reported.
const maxHolders = 9

// spanDuring returns the span that a thread had in its longest hold among t.holds, of the part after a time.
func (t *Tracker) spanDuring(id jvmthread.ThreadID, start jvmthread.Time) (span jvmthread.SpanContext) {
	var most time.Duration
	for i := range t.spans {
		h := &t.holds[i]
		if d := h.End.Sub(max(h.Start, start)); h.Thread == id && d > most && !t.spans[i].IsZero() {
			most, span = d, t.spans[i]
		}
	}
	return span
}
