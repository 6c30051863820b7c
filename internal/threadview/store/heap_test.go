// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package store_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Evicted windows are freed: a full store holds little more than its limit.
func TestEvictedWindowsAreFreed(t *testing.T) {
	const limit = 8 << 20
	st, sym := store.New(limit, nil), newSymbols()
	s := st.Open(sessionID, nil)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	const step, intervals = 1000, 5000
	for n := range jvmthread.Time(500) {
		lane := &window.Lane{Thread: 1}
		start := n * step * intervals
		for i := range jvmthread.Time(intervals) {
			state := jvmthread.StateRunnable + jvmthread.State(i%2)
			lane.Intervals.Append(&jvmthread.Interval{
				Thread: 1, Seq: jvmthread.Seq(n*intervals + i + 1), State: state, Start: start + i*step, End: start + (i+1)*step,
			})
		}
		s.Append(&window.Window{Start: start, End: start + step*intervals, Cut: window.CutTime, Lanes: []*window.Lane{lane}}, sym)
	}
	held := heap() - before
	assert.Greater(t, st.Stats().Evicted, uint64(300))
	assert.Less(t, held, int64(limit)*5/4)
	s.Close(window.CutEnd)
}

// The size that the store states is that of its heap.
func TestSizeIsThatOfTheHeap(t *testing.T) {
	for _, threads := range []int{10, 3000} {
		st, sym := store.New(math.MaxInt64, nil), newSymbols()
		heap := func() int64 {
			runtime.GC()
			runtime.GC() // pools are emptied by the second one
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		var all []*store.Session
		for i := range 5 {
			s := st.Open(idOf(i+1), store.Meta{"service.name": "test"})
			for n := range 40 {
				w := windowOf(n, threads, 6000/threads)
				var events []jvmthread.Event
				for _, l := range w.Lanes {
					for _, iv := range l.Intervals.All() {
						events = append(events, jvmthread.Event{Time: iv.Start, Thread: iv.Thread, Kind: jvmthread.KindYield})
					}
				}
				s.Events(events, sym)
				s.Append(w, sym)
			}
			s.Snapshot()
			all = append(all, s)
		}
		held := heap() - before
		assert.InEpsilon(t, held, st.Stats().Bytes, 0.2, "%d threads", threads)
		runtime.KeepAlive(all)
	}
}
