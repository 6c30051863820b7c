// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// End says where the time of a request went, on one thread: from when its outermost span there became current until it no longer was. What the
// thread did in it besides the waits was running or ready to run. Requests that did not wait have none.
type End struct {
	Thread     jvmthread.ThreadID
	Start, End jvmthread.Time
	Span       jvmthread.SpanContext // the outermost one
	Name       jvmthread.ClassID     // of the request, defined like a class; NoClass: not known
	Waits      window.Waits
	Lost       []Lost         // to what it waited for, longest first, at most maxLost
	Shown      bool           // it is worth a span: it waited for at least Config.MinDuration, and the limit allows it
	Window     jvmthread.Time // start of the window in which it ended
}

// Lost is the time that a request lost to one lock, or to other waits of a kind.
type Lost struct {
	Longest jvmthread.Interval // of the waits
	Count   int
	Time    time.Duration
	key     runKey
}

// Waited returns the time of all waits.
func (e *End) Waited() (sum time.Duration) {
	for i := range e.Waits {
		sum += e.Waits[i].Time
	}
	return sum
}

// Running returns the rest of the time.
func (e *End) Running() time.Duration { return max(0, e.End.Sub(e.Start)-e.Waited()) }

// maxLost bounds the locks to which the time of a request is attributed; the sums by kind include all.
const maxLost = 8

// sums adds up the waits of the current request of a thread.
type sums struct {
	waits window.Waits
	lost  []Lost
}

func (s *sums) add(iv *jvmthread.Interval) {
	d := iv.Waited()
	k := &s.waits[iv.Wait]
	k.Count++
	k.Time += d
	key := keyOf(iv)
	i := slices.IndexFunc(s.lost, func(l Lost) bool { return l.key == key })
	if i < 0 {
		if len(s.lost) == maxLost {
			return
		}
		s.lost = append(s.lost, Lost{Longest: *iv, Count: 1, Time: d, key: key})
		return
	}
	l := &s.lost[i]
	l.Count++
	l.Time += d
	if d > l.Longest.Waited() {
		l.Longest = *iv
	}
}

// reset forgets the waits, which are of another request.
func (s *sums) reset() { *s = sums{lost: s.lost[:0]} }

// requestEnded reports where the time of a request went.
func (t *Tracker) requestEnded(ev *jvmthread.Event) {
	th := t.threads[ev.Thread]
	if th == nil || ev.Arg < 0 || jvmthread.Time(ev.Arg) > ev.Time { // no request began before 1970
		return
	}
	if len(t.report.Ends) >= maxReport {
		t.report.Dropped++
		return
	}
	t.endRuns(th)
	e := End{
		Thread: ev.Thread, Start: ev.Time - jvmthread.Time(ev.Arg), End: ev.Time, Span: ev.Span, Name: ev.Lock.Class, Waits: th.sums.waits,
		Window: t.window,
	}
	if e.Span.TraceID == [16]byte{} {
		e.Span.TraceID = th.span.TraceID // the event carries only the span's own id
	}
	if waited := e.Waited(); waited == 0 {
		return
	} else if waited >= t.cfg.MinDuration && !e.Span.IsZero() && t.cfg.Spans() && t.allow(&t.forWaits, ev.Time, waited) {
		e.Shown = true
		e.Lost = slices.Clone(th.sums.lost)
		slices.SortStableFunc(e.Lost, func(a, b Lost) int { return cmp.Compare(b.Time, a.Time) })
	}
	th.sums.reset()
	t.report.Ends = append(t.report.Ends, e)
}
