// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// spanOf is the span that is current on a thread all the time.
func spanOf(id jvmthread.ThreadID) (c jvmthread.SpanContext) {
	binary.BigEndian.PutUint64(c.TraceID[:8], uint64(id))
	binary.BigEndian.PutUint64(c.SpanID[:], uint64(id))
	return c
}

// contexts adds a span to each thread, which is current all the time.
func contexts(events []jvmthread.Event) (out []jvmthread.Event) {
	known := make(map[jvmthread.ThreadID]bool)
	for _, ev := range events {
		if !known[ev.Thread] && ev.Kind != jvmthread.KindThreadStart {
			known[ev.Thread] = true
			out = append(out, jvmthread.Event{Time: ev.Time, Thread: ev.Thread, Kind: jvmthread.KindContext, Span: spanOf(ev.Thread)})
		}
		out = append(out, ev)
	}
	return out
}

// Waits that are reported as pinned have a span in the trace of their window, whatever its budget.
func TestPinnedWaitsHaveASpan(t *testing.T) {
	t.Parallel()
	pinned, others := 0, 0
	for seed := range uint64(100) {
		events := contexts(threadtest.Simulate(seed, 30, 3, 600).Events)
		budget := 9 + int(seed)
		cfg := engine.DefaultConfig()
		cfg.Window = time.Microsecond
		cfg.Requests = &requests.Config{MinDuration: 1, MinCaused: 1, MaxPerSpan: 1e9, MaxPerSecond: 1e9, MaxPins: window.MaxPins(budget)}
		e := engine.New(cfg, nil)
		waiting := make(map[jvmthread.Time][]jvmthread.IntervalRef)
		take := func() {
			for _, w := range e.Requests().Take().Waits {
				if w.Pinned {
					waiting[w.Window] = append(waiting[w.Window], jvmthread.IntervalRef{Thread: w.Interval.Thread, Seq: w.Interval.Seq})
					pinned++
				} else {
					others++
				}
			}
			e.Requests().Reset()
		}
		finder := window.NewFinder()
		see := func(w *window.Window) {
			take()
			finder.Find(w)
			w.FoldMinor()
			w.Select(budget, 1+budget/4)
			for _, ref := range waiting[w.Start] {
				if _, ok := w.Interval(ref); !ok {
					t.Fatalf("seed %d: %v is not in the window of %d", seed, ref, w.Start)
				}
				if target, ok := w.Target(ref, w.Start); !ok || target.Folded {
					t.Fatalf("seed %d, budget %d: %v has no span", seed, budget, ref)
				}
			}
			delete(waiting, w.Start)
		}
		for i := range events {
			e.Push(events[i:i+1], events[i].Time, see)
			take()
		}
		e.Finish(nil, e.Now(), window.CutEnd, see)
		if len(waiting) > 0 {
			t.Fatalf("seed %d: waits of windows that do not exist: %v", seed, waiting)
		}
	}
	if pinned < 1000 || others < 1000 {
		t.Errorf("only %d pinned, %d others", pinned, others)
	}
}

// Each wait is reported once, when it ends, and says the same of its holders and causes as the window that is cut later.
func TestWaitsAreThoseOfTheWindow(t *testing.T) {
	t.Parallel()
	waits, held := 0, 0
	for seed := range uint64(100) {
		events := contexts(threadtest.Simulate(seed, 6, 3, 400).Events)
		cfg := engine.DefaultConfig()
		cfg.Window = time.Hour
		cfg.Requests = &requests.Config{MinDuration: 1, MinCaused: 1, MaxPerSpan: 1e9, MaxPerSecond: 1e9}
		e := engine.New(cfg, nil)
		got := make(map[jvmthread.IntervalRef]requests.Wait)
		take := func() {
			r := e.Requests().Take()
			for _, w := range r.Waits {
				ref := jvmthread.IntervalRef{Thread: w.Interval.Thread, Seq: w.Interval.Seq}
				if _, twice := got[ref]; twice || w.Count != 1 {
					t.Fatalf("seed %d: %v is reported twice, or as %d waits", seed, ref, w.Count)
				}
				got[ref] = w
			}
			for i := range r.Holds {
				checkHeld(t, &r.Holds[i])
				held++
			}
			e.Requests().Reset()
		}
		for i := range events {
			e.Push(events[i:i+1], events[i].Time, func(*window.Window) { t.Fatal("a window") })
			take()
		}
		e.Finish(nil, e.Now(), window.CutEnd, func(w *window.Window) {
			for _, l := range w.Lanes {
				for _, iv := range l.Intervals.All() {
					if w.Detail(iv).Span.IsZero() || iv.Marks.Has(jvmthread.MarkWillContinue) || iv.Marks.Has(jvmthread.MarkOpen) || iv.Wait.Idle() {
						continue
					}
					compare(t, w, iv, got, seed)
					waits++
				}
			}
		})
	}
	if waits < 1000 || held < 1000 {
		t.Errorf("only %d waits, %d holds", waits, held)
	}
}

// compare compares what was reported of a wait with what its window says.
func compare(t *testing.T, w *window.Window, iv jvmthread.Interval, got map[jvmthread.IntervalRef]requests.Wait, seed uint64) {
	t.Helper()
	r, ok := got[jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}]
	if !ok {
		t.Fatalf("%+v is not reported", iv)
	}
	if r.Detail.Span != spanOf(iv.Thread) || r.Time != iv.Waited() || r.Start != iv.Began() || r.End != iv.End {
		t.Fatalf("have %+v, want %+v", r, iv)
	}
	if diff := cmp.Diff(w.AppendCauses(nil, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}), r.Causes); diff != "" {
		t.Fatalf("causes of %+v (-window +report):\n%s", iv, diff)
	}
	switch {
	case iv.Marks.Has(jvmthread.MarkContinues):
		return // the window has several intervals for it
	case len(r.Causes) == 0:
		return // the window may know better who held it: when the next owner got it
	}
	want := w.Holders(&iv, nil, 1)
	if len(want) != len(r.Holders) {
		t.Fatalf("seed %d: %+v: have %+v, want %+v", seed, iv, r.Holders, want)
	}
	for i, h := range r.Holders {
		if h.Thread != want[i].Thread || h.Time != want[i].Time {
			t.Fatalf("%+v: holder %+v, want %+v", iv, h.Holder, want[i])
		}
		if !h.Span.IsZero() && h.Span != spanOf(h.Thread) {
			t.Fatalf("%+v: the request of %+v is %+v", iv, h.Holder, h.Span)
		}
	}
}

func checkHeld(t *testing.T, h *requests.Held) {
	t.Helper()
	if h.Start < h.Hold.Start || h.End > h.Hold.End || h.Start >= h.End || h.Span != spanOf(h.Hold.Thread) || h.Requests > h.Threads ||
		h.Caused <= 0 || h.Caused > time.Duration(h.Threads)*h.Hold.End.Sub(h.Hold.Start) || h.Wait.Lock != h.Hold.Lock {
		t.Fatalf("%+v", *h)
	}
}

// Spans of one thread do not overlap, except for runs of short waits for different locks: where one covers another, a critical path through
// the trace leads through one of them only.
func TestSpansOfAThreadDoNotOverlap(t *testing.T) {
	t.Parallel()
	type part struct {
		start, end jvmthread.Time
		kind       string
	}
	seen := map[string]int{}
	for seed := range uint64(300) {
		events := contexts(threadtest.Simulate(seed, 6, 3, 400).Events)
		cfg := engine.DefaultConfig()
		cfg.Window = time.Hour
		cfg.Requests = &requests.Config{MinDuration: time.Duration(seed % 40), MinCaused: 1, MaxPerSpan: 1 + int(seed%9), MaxPerSecond: 1e9, MaxPins: 1e9}
		e := engine.New(cfg, nil)
		parts := map[jvmthread.ThreadID][]part{}
		add := func(id jvmthread.ThreadID, p part) {
			for _, o := range parts[id] {
				if max(o.start, p.start) < min(o.end, p.end) && (o.kind != p.kind || p.kind == "wait") {
					t.Fatalf("seed %d: thread %d: %+v and %+v", seed, id, p, o)
				}
			}
			parts[id] = append(parts[id], p)
			seen[p.kind]++
		}
		take := func() {
			r := e.Requests().Take()
			for i := range r.Waits {
				w := &r.Waits[i]
				kind := "run"
				if w.Pinned { // as only those that are reported alone
					kind = "wait"
				}
				add(w.Interval.Thread, part{w.Start, w.End, kind})
			}
			for i := range r.Holds {
				add(r.Holds[i].Hold.Thread, part{r.Holds[i].Start, r.Holds[i].End, "hold"})
			}
			e.Requests().Reset()
		}
		for i := range events {
			e.Push(events[i:i+1], events[i].Time, func(*window.Window) { t.Fatal("a window") })
			take()
		}
		e.Finish(nil, e.Now(), window.CutEnd, func(*window.Window) {})
		take()
	}
	if seen["wait"] < 1000 || seen["run"] < 1000 || seen["hold"] < 1000 {
		t.Errorf("too few: %v", seen)
	}
}
