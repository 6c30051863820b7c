// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// If time stands still and no window is cut, the number of pending events is bounded.
func TestPendingEventsAreBounded(t *testing.T) {
	st := New(1<<30, nil)
	st.pending = 100
	s := st.Open(jvmthread.SessionID{1}, nil)
	sym := symbols.New(symbols.DefaultLimits())
	for range 30 {
		s.Events(make([]jvmthread.Event, 7), sym)
	}
	if n := s.pending.events; n != 100 {
		t.Errorf("%d pending events, want 100", n)
	}
	if raw := s.pack(1); raw.events != 100 {
		t.Errorf("%d packed events, want 100", raw.events)
	}
	if s.Events(make([]jvmthread.Event, 7), sym); s.pending.events != 7 {
		t.Error("the pending buffer is still full")
	}
}
