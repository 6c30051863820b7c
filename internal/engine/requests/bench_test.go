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
)

// convoy returns the events of threads that queue for a lock in turn, each in a request of its own.
func convoy(threads, rounds int, spans bool) (events []jvmthread.Event) {
	lock := jvmthread.LockID{Class: 1, Hash: 1}
	const held = jvmthread.Time(100 * time.Microsecond)
	now := jvmthread.Time(time.Hour)
	id := func(n int) jvmthread.ThreadID { return jvmthread.ThreadID(n%threads + 1) }
	for n := range threads * rounds {
		now += held
		owner, next := id(n), id(n+1)
		events = append(events, jvmthread.Event{Time: now, Thread: next, Lock: lock, Kind: jvmthread.KindContendedEntered})
		if spans {
			events = append(events,
				jvmthread.Event{Time: now + 1, Thread: owner, Kind: jvmthread.KindContext},
				jvmthread.Event{Time: now + 2, Thread: owner, Kind: jvmthread.KindContext, Span: spanOf(jvmthread.ThreadID(n + 1))})
		}
		events = append(events, jvmthread.Event{Time: now + 3, Thread: owner, Peer: next, Lock: lock, Kind: jvmthread.KindContendedEnter})
	}
	return events
}

// What the waits of requests cost next to the rest of the engine, for each event: off, on without spans of the application, on with them.
// 200 threads queue for one lock, each for 20 ms.
func BenchmarkRequests(b *testing.B) {
	for _, bench := range []struct {
		name       string
		spans, off bool
	}{{name: "off", spans: true, off: true}, {name: "no-spans"}, {name: "spans", spans: true}} {
		b.Run(bench.name, func(b *testing.B) {
			events := convoy(200, 100, bench.spans)
			b.ReportAllocs()
			done := 0
			for b.Loop() {
				cfg := engine.DefaultConfig()
				if !bench.off {
					cfg.Requests = &requests.Config{MinDuration: time.Millisecond, MinCaused: 10 * time.Millisecond, MaxPerSpan: 50, MaxPerSecond: 1000}
				}
				e := engine.New(cfg, nil)
				for i := 0; i < len(events); i += 1000 {
					part := events[i:min(i+1000, len(events))]
					e.Push(part, part[len(part)-1].Time, func(*window.Window) {})
					if r := e.Requests(); r != nil {
						r.Reset()
					}
				}
				done += len(events)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(done), "ns/event")
		})
	}
}
