// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// shop stores the history of a shop, without its spans if they are not wanted.
func shop(maxBytes int64, spans bool) *store.Snapshot {
	sym := symbols.New(symbols.DefaultLimits())
	events, _ := threadtest.Shop(sym, 1, 2000)
	s := store.New(maxBytes, nil).Open(sessionID, store.Meta{})
	cfg := engine.DefaultConfig()
	cfg.Window = 20 * time.Millisecond
	e := drive.New(cfg, sym)
	e.Watch(func(events []jvmthread.Event) { s.Events(events, sym) })
	kept := events[:0]
	for _, ev := range events {
		if spans || ev.Kind != jvmthread.KindContext && ev.Kind != jvmthread.KindRequestEnd {
			kept = append(kept, ev)
		}
	}
	e.Add(ordering.Batch{Number: 1, Watermark: kept[len(kept)-1].Time + 1, Events: kept})
	yield := func(w *window.Window) { s.Append(w, sym) }
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	s.Close(window.CutEnd)
	return s.Snapshot()
}

func parts(sn *store.Snapshot) (out []store.RequestPart) {
	sn.Requests(math.MinInt64, math.MaxInt64, func(p store.RequestPart) { out = append(out, p) })
	return out
}

// A request costs at most 150 bytes on each thread, with its events, and a session without requests nothing.
func TestMemoryOfRequests(t *testing.T) {
	with, without := shop(math.MaxInt64, true), shop(math.MaxInt64, false)
	assert.Greater(t, len(parts(with)), 2000)
	assert.True(t, with.HasRequests())
	assert.False(t, without.HasRequests())
	each := float64(with.Bytes-without.Bytes) / float64(len(parts(with)))
	t.Logf("%.0f bytes each", each)
	assert.Greater(t, each, 64.)
	assert.Less(t, each, 150.)
}

// Requests are evicted with their windows, and the threads that they name are known.
func TestRequestsAreEvicted(t *testing.T) {
	all, some := shop(math.MaxInt64, true), shop(200_000, true)
	require.Positive(t, some.Evicted)
	assert.Less(t, len(parts(some)), len(parts(all)))
	assert.NotEmpty(t, parts(some))
	for _, p := range parts(some) {
		assert.GreaterOrEqual(t, p.End, some.From)
		assert.True(t, some.Threads[p.Thread].Known)
		assert.NotEmpty(t, some.Classes[p.Name])
		assert.True(t, p.Whole)
	}
}
