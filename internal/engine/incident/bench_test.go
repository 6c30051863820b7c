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
