// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// thread is a thread with a current span of the application.
type thread struct {
	span   jvmthread.SpanContext // that is current
	before jvmthread.SpanContext // that was current before
	from   jvmthread.Time        // since when
	until  jvmthread.Time        // until when
	last   jvmthread.SpanContext // the outermost span that ended last
	idle   jvmthread.Time        // when it ended
	recent [8]span               // the spans seen last
	next   int                   // in recent
	runs   []run
	waited jvmthread.Time // end of the last wait that was reported alone
	sums   sums           // of the request
}

// span is a span of the application on a thread.
type span struct {
	id    [8]byte
	since jvmthread.Time // when it was first seen to be current
	waits int            // that were reported alone
}

// run is several short waits.
type run struct {
	Wait

	key runKey
}

type runKey struct {
	lock jvmthread.LockID
	wait jvmthread.Wait
	site jvmthread.StackID // of waits for no lock
}

func keyOf(iv *jvmthread.Interval) runKey {
	k := runKey{lock: iv.Lock, wait: iv.Wait}
	if k.lock.IsZero() {
		k.site = iv.Stack
	}
	return k
}

// maxRuns bounds the runs of a thread; the oldest one ends.
const maxRuns = 8

// thread returns what is known of a thread with a current span.
func (t *Tracker) thread(id jvmthread.ThreadID) *thread {
	th := t.threads[id]
	if th == nil {
		th = new(thread)
		t.threads[id] = th
	}
	return th
}

// changed notes that another span, or none, is current on a thread.
func (t *Tracker) changed(id jvmthread.ThreadID, span jvmthread.SpanContext, at jvmthread.Time) {
	th := t.threads[id]
	if th == nil {
		if span.IsZero() {
			return
		}
		th = t.thread(id)
	}
	if th.span == span {
		return
	}
	t.endRuns(th)
	if th.before, th.until = th.span, at; !th.before.IsZero() {
		th.from = th.seen(th.before, at).since
	}
	th.span = span
	if span.IsZero() {
		th.last, th.idle = th.before, at
		clear(th.recent[:])
		th.sums.reset()
	} else {
		th.seen(span, at)
	}
}

// wait reports a wait of a request, or adds it to a run.
func (t *Tracker) wait(iv *jvmthread.Interval, d *jvmthread.Detail, causes []jvmthread.Interaction) {
	if d == nil || d.Span.IsZero() || iv.Marks.Has(jvmthread.MarkWillContinue) {
		return
	}
	th := t.thread(iv.Thread)
	if th.sums.add(iv); !t.cfg.Spans() || iv.Wait.Idle() {
		return
	}
	w := Wait{Interval: *iv, Start: iv.Began(), End: iv.End, Count: 1, Time: iv.Waited(), Detail: *d, Window: t.window}
	parent := th.seen(d.Span, w.Start)
	if w.Time < t.cfg.MinDuration || parent.waits >= t.cfg.MaxPerSpan {
		t.join(th, &w, causes)
		return
	}
	t.endRuns(th)
	if !t.allow(&t.forWaits, iv.End, w.Time) {
		return
	}
	parent.waits++
	th.waited = iv.End
	t.complete(&w, causes)
	t.pin(&w)
	t.report.Waits = append(t.report.Waits, w)
}

// pin makes sure that the wait can be linked to in the window's trace, within the limit.
func (t *Tracker) pin(w *Wait) {
	if t.pins < t.cfg.MaxPins && t.Pin != nil {
		t.pins++
		w.Pinned = true
		t.Pin(t.timeline.Thread(w.Interval.Thread), w.Interval.Seq)
	}
}

// complete adds what ended the wait and who held what it was for.
func (t *Tracker) complete(w *Wait, causes []jvmthread.Interaction) {
	for i := range causes {
		if causes[i].To.Thread == w.Interval.Thread && causes[i].To.Seq == w.Interval.Seq {
			w.Causes = append(w.Causes, causes[i])
		}
	}
	w.Holders = t.holdersOf(&w.Interval, w.Start, w.Causes)
}

// join adds a short wait to its run.
func (t *Tracker) join(th *thread, w *Wait, causes []jvmthread.Interaction) {
	k := keyOf(&w.Interval)
	i := slices.IndexFunc(th.runs, func(r run) bool { return r.key == k && r.Detail.Span == w.Detail.Span })
	if i < 0 {
		if len(th.runs) == maxRuns {
			t.endRun(th, &th.runs[0])
			th.runs = slices.Delete(th.runs, 0, 1)
		}
		t.complete(w, causes)
		th.runs = append(th.runs, run{*w, k})
		return
	}
	r := &th.runs[i]
	r.Count += w.Count
	r.Time += w.Time
	r.End, r.Window = w.End, w.Window
	if w.Time > r.Interval.Waited() {
		t.complete(w, causes)
		r.Interval, r.Detail, r.Causes, r.Holders = w.Interval, w.Detail, w.Causes, w.Holders
	}
}

// endRuns reports the runs of a thread.
func (t *Tracker) endRuns(th *thread) {
	for i := range th.runs {
		t.endRun(th, &th.runs[i])
	}
	clear(th.runs)
	th.runs = th.runs[:0]
}

func (t *Tracker) endRun(th *thread, r *run) {
	if r.Time >= t.cfg.MinDuration && t.allow(&t.forWaits, r.End, r.Time) {
		th.waited = max(th.waited, r.End)
		t.report.Waits = append(t.report.Waits, r.Wait)
	}
}

// seen returns what is known of a span that is or was current on a thread.
func (th *thread) seen(c jvmthread.SpanContext, at jvmthread.Time) *span {
	for i := range th.recent {
		if th.recent[i].id == c.SpanID {
			return &th.recent[i]
		}
	}
	s := &th.recent[th.next]
	th.next = (th.next + 1) % len(th.recent)
	*s = span{id: c.SpanID, since: at}
	return s
}

// lose forgets a thread of which events are missing, or all threads.
func (t *Tracker) lose(th *timeline.Thread) {
	if th == nil {
		clear(t.queues)
		clear(t.waits)
		clear(t.threads)
		return
	}
	id := th.Open().Thread
	delete(t.threads, id)
	t.remove(id)
}

// Expire forgets what is out of date: threads that have ended, and waits that ended unseen.
func (t *Tracker) Expire() {
	for id := range t.threads {
		if th := t.timeline.Thread(id); th == nil || th.Dead() {
			delete(t.threads, id)
		}
	}
	for _, q := range t.queues {
		q.waiting = slices.DeleteFunc(q.waiting, func(w waiter) bool {
			th := t.timeline.Thread(w.thread)
			if th != nil && (th.Open().Lock == q.lock && window.HasHolders(th.Open().Wait) || th.Open().State == jvmthread.StateSuspended) {
				return false
			}
			delete(t.waits, w.thread)
			return true
		})
		if len(q.waiting) == 0 {
			t.drop(q)
		} else {
			q.forget()
		}
	}
}
