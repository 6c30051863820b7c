// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// BenchmarkFind finds the incidents of a window in which pairs of threads take turns: each wait is an episode. One operation is one wait.
func BenchmarkFind(b *testing.B) {
	const locks, turns, tick = 100, 400, jvmthread.Time(time.Microsecond)
	var events []jvmthread.Event
	for n := range jvmthread.Time(locks) {
		lock := jvmthread.LockID{Class: jvmthread.ClassID(1 + n%7), Hash: uint32(n + 1)}
		for turn := range jvmthread.Time(turns) {
			owner, next := jvmthread.ThreadID(1+2*n+turn%2), jvmthread.ThreadID(1+2*n+(turn+1)%2)
			at := 1000*tick + turn*20*tick + n
			events = append(events,
				jvmthread.Event{Time: at, Thread: next, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: owner},
				jvmthread.Event{Time: at + 15*tick, Thread: next, Kind: jvmthread.KindContendedEntered, Lock: lock})
		}
	}
	slices.SortFunc(events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	run(nil, events, time.Hour, func(w *window.Window) {
		f := incident.NewFinder(incident.Options{MinTime: 20 * time.Microsecond, MaxPerWindow: 20})
		b.ReportAllocs()
		b.ResetTimer()
		for done := 0; done < b.N; done += locks * turns {
			f.Find(w)
		}
		b.StopTimer()
	})
}

// BenchmarkFindLong finds one incident of many waits: there is always a thread that waits, and each holder sleeps for a part of its hold. One
// operation is one wait.
func BenchmarkFindLong(b *testing.B) {
	const turns, threads, tick = 40_000, 8, jvmthread.Time(time.Microsecond)
	lock := jvmthread.LockID{Class: 1, Hash: 1}
	var events []jvmthread.Event
	for turn := range jvmthread.Time(turns) {
		owner, next, at := 1+jvmthread.ThreadID(turn%threads), 1+jvmthread.ThreadID((turn+1)%threads), turn*20*tick
		events = append(events,
			jvmthread.Event{Time: at + 1, Thread: next, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: owner},
			jvmthread.Event{Time: at + 5*tick, Thread: owner, Kind: jvmthread.KindSleepStart},
			jvmthread.Event{Time: at + 15*tick, Thread: owner, Kind: jvmthread.KindSleepEnd},
			jvmthread.Event{Time: at + 20*tick + 2, Thread: next, Kind: jvmthread.KindContendedEntered, Lock: lock})
	}
	slices.SortFunc(events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	run(nil, events, time.Hour, func(w *window.Window) {
		f := incident.NewFinder(incident.Options{MinTime: 20 * time.Microsecond, MaxPerWindow: 20})
		if n := len(f.Find(w).Incidents); n != 1 {
			b.Fatalf("%d incidents, want 1", n)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for done := 0; done < b.N; done += turns {
			f.Find(w)
		}
		b.StopTimer()
	})
}
