// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
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
