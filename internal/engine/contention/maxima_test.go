// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Flushes between two windows repeat the maxima of the last ones: a queue is not empty because no window has ended.
func TestMaximaLastUntilTheNextWindow(t *testing.T) {
	cfg := &Config{MaxSeries: 2, Expiry: time.Hour, Budget: &Budget{Limit: 100}}
	a := New(cfg, symbols.New(symbols.DefaultLimits()), nil, time.Unix(0, 0))
	tl := timeline.New(1, nil)
	ends := func(waiters int, handoffs uint64) {
		a.Window(&window.Window{Locks: []window.LockStats{
			{Class: 1, Contentions: 1, Waiters: waiters, Run: window.HandoffRun{Handoffs: handoffs}},
		}}, tl)
	}
	type maxima struct {
		waiters int
		chain   uint64
	}
	flush := func() (m maxima) {
		a.Flush(nil, time.Unix(1, 0), false, func(s *Statement) {
			for _, c := range s.Classes {
				m = maxima{c.Value.Waiters, c.Value.Chain}
			}
		})
		return m
	}
	ends(3, 70)
	ends(5, 20)
	assert.Equal(t, maxima{5, 70}, flush(), "of two windows")
	assert.Equal(t, maxima{5, 70}, flush(), "no window has ended since")
	ends(2, 9)
	assert.Equal(t, maxima{2, 9}, flush(), "of the window since the last flush")
	a.Window(&window.Window{}, tl)
	assert.Equal(t, maxima{}, flush(), "a window without contention")
}
