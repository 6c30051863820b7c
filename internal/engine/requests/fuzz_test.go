// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package requests_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

const eventBytes = 8

// FuzzRequests runs arbitrary histories, possible or not: what is reported has a length and a span, and pinned waits are in their window.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(8) {
		var data []byte
		last := jvmthread.Time(1000)
		for _, ev := range contexts(threadtest.Simulate(seed, 6, 3, 100).Events) {
			data = append(data, byte(ev.Kind), byte(min(255, ev.Time-last)), byte(ev.Thread), byte(ev.Peer), byte(ev.Lock.Hash), byte(ev.Flags), byte(ev.Arg), ev.Span.SpanID[7])
			last = ev.Time
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		events := decode(data)
		for _, length := range []time.Duration{time.Hour, 300} {
			cfg := engine.DefaultConfig()
			cfg.Window = length
			cfg.Requests = &requests.Config{MinDuration: 5, MinCaused: 5, MaxPerSpan: 3, MaxPerSecond: 1e9, MaxPins: window.MaxPins(20)}
			e := engine.New(cfg, nil)
			pinned := make(map[jvmthread.Time][]jvmthread.IntervalRef)
			take := func() {
				check(t, e.Requests().Take(), pinned)
				e.Requests().Reset()
			}
			see := func(w *window.Window) {
				take()
				w.Select(20, 0)
				for _, ref := range pinned[w.Start] {
					if target, ok := w.Target(ref, w.Start); !ok || target.Folded {
						t.Errorf("%v has no span", ref)
					}
				}
				delete(pinned, w.Start)
			}
			for i := range events {
				e.Push(events[i:i+1], events[i].Time, see)
			}
			e.Finish(nil, e.Now(), window.CutEnd, see)
			if len(pinned) > 0 {
				t.Errorf("waits of windows that do not exist: %v", pinned)
			}
		}
	})
}

// decode turns arbitrary bytes into a history.
func decode(data []byte) (events []jvmthread.Event) {
	at := jvmthread.Time(1000)
	for ; len(data) >= eventBytes; data = data[eventBytes:] {
		at += jvmthread.Time(data[1])
		ev := jvmthread.Event{
			Kind: jvmthread.Kind(data[0]) % jvmthread.Kind(jvmthread.NumKinds+2), Time: at,
			Thread: jvmthread.ThreadID(data[2] % 16), Peer: jvmthread.ThreadID(data[3] % 16),
			Flags: jvmthread.Flags(data[5]), Arg: int64(int8(data[6])) << (data[7] % 57),
		}
		if l := data[4] % 6; l > 0 {
			ev.Lock = jvmthread.LockID{Class: jvmthread.ClassID(l%2) + 1, Hash: uint32(l)}
		}
		if id := data[7] % 8; id > 0 && ev.Kind.CarriesSpan() {
			ev.Span = spanOf(jvmthread.ThreadID(id))
		}
		events = append(events, ev)
	}
	return events
}

func check(t *testing.T, r *requests.Report, pinned map[jvmthread.Time][]jvmthread.IntervalRef) {
	t.Helper()
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Start > w.End || w.Count < 1 || w.Time < 5 || w.Detail.Span.IsZero() || w.Count == 1 && w.Time != w.End.Sub(w.Start) {
			t.Errorf("wait %+v", *w)
		}
		if w.Pinned {
			pinned[w.Window] = append(pinned[w.Window], jvmthread.IntervalRef{Thread: w.Interval.Thread, Seq: w.Interval.Seq})
		}
	}
	for i := range r.Holds {
		if h := &r.Holds[i]; h.Start >= h.End || h.Span.IsZero() || h.Caused < 5 || h.Threads < 1 || h.Requests > h.Threads || h.Wait.Lock != h.Hold.Lock {
			t.Errorf("hold %+v", *h)
		}
	}
	for i := range r.Ends {
		if e := &r.Ends[i]; e.Start < 0 || e.Start > e.End || e.Waited() <= 0 || e.Running() < 0 {
			t.Errorf("end %+v", *e)
		}
	}
}
