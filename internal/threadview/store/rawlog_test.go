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
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// watched stores a history together with its events.
func watched(st *store.Store, events []jvmthread.Event, length time.Duration) *store.Snapshot {
	sym := newSymbols()
	s := st.Open(sessionID, store.Meta{"service.name": "test"})
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e := drive.New(cfg, nil)
	e.Watch(func(events []jvmthread.Event) { s.Events(events, sym) })
	yield := func(w *window.Window) { s.Append(w, sym) }
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	s.Close(window.CutEnd)
	return s.Snapshot()
}

// All events are kept, each with its window, and their ids still resolve to names.
func TestEventsAreKept(t *testing.T) {
	for seed := range uint64(20) {
		sim := threadtest.Simulate(seed, 9, 3, 1500)
		sim.Events = append(sim.Events, jvmthread.Event{
			Time: sim.Events[len(sim.Events)-1].Time + 5, Thread: 1, Kind: jvmthread.KindContext,
			Span: jvmthread.SpanContext{TraceID: [16]byte{0: 0xff, 15: 1}, SpanID: [8]byte{0: 2, 7: 0xff}},
		})
		sn := watched(store.New(math.MaxInt64, nil), sim.Events, 700)
		sym := sn.Symbols()
		var got []jvmthread.Event
		require.NoError(t, sn.Replay(math.MinInt64, math.MaxInt64, func(b *store.Block, events []jvmthread.Event) bool {
			for _, ev := range events {
				assert.GreaterOrEqual(t, ev.Time, b.Start)
				assert.LessOrEqual(t, ev.Time, b.End)
			}
			got = append(got, events...)
			return true
		}))
		require.Len(t, got, len(sim.Events))
		for i := range got {
			want := sim.Events[i]
			assert.Equal(t, newSymbols().Class(want.Lock.Class), sym.Class(got[i].Lock.Class))
			got[i].Lock.Class = want.Lock.Class
			require.Equal(t, want, got[i])
		}
	}
}
