// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Sessions that open and close concurrently in a full store are evicted one by one; the byte count stays exact.
func TestConcurrentEviction(t *testing.T) {
	st := store.New(0, nil)
	sym := newSymbols()
	var all sync.WaitGroup
	for g := range byte(8) {
		all.Go(func() {
			for range 200 {
				for n := range byte(3) {
					s := st.Open(jvmthread.SessionID{0: 1, 1: n, 15: g}, nil)
					for i := range jvmthread.Time(3) {
						s.Append(&window.Window{Start: 10 * i, End: 10 * (i + 1), Cut: window.CutTime}, sym)
					}
					s.Close(window.CutEnd)
				}
			}
		})
	}
	all.Wait()
	assert.Empty(t, st.Sessions())
	assert.Zero(t, st.Stats().Bytes)
}

// A session without windows, such as that of an agent in aggregated mode, uses memory only while it is live. A collector sees thousands of
// them.
func TestSessionWithoutWindowsIsFreed(t *testing.T) {
	st := store.New(1<<30, nil)
	meta := store.Meta{"process.command_line": strings.Repeat("x", 10_000)}
	for n := range byte(200) {
		s := st.Open(jvmthread.SessionID{0: 1, 15: n}, meta)
		assert.Greater(t, st.Stats().Bytes, int64(10_000))
		s.Close(window.CutEnd)
	}
	assert.Empty(t, st.Sessions())
	assert.Equal(t, store.Stats{MaxBytes: 1 << 30, Removed: 200}, st.Stats())
}

// The metadata of a session counts once, however often the session reconnects.
func TestReconnectedSessionIsCountedOnce(t *testing.T) {
	st := store.New(1<<30, nil)
	s := st.Open(sessionID, store.Meta{"service.name": "orders"})
	s.Append(&window.Window{Start: 0, End: 10, Cut: window.CutTime}, newSymbols())
	before := st.Stats().Bytes
	s.Close(window.CutLost)
	st.Open(sessionID, store.Meta{"service.name": "orders"})
	assert.Equal(t, before, st.Stats().Bytes)
	assert.Equal(t, before, s.Snapshot().Bytes)
}

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
