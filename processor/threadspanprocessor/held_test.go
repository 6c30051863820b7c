// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package threadspanprocessor

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The processor says how many bytes it holds, and the heap agrees, to within a fifth: in the middle of a window, and after windows that were
// larger than the current one.
func TestHeldIsWhatTheHeapHolds(t *testing.T) {
	if threadtest.Race {
		t.Skip("the race detector takes memory of its own")
	}
	const sessions, rate, length = 20, 1000, 17 * time.Second
	f := fleet{sessions: sessions, rate: sessions * rate}
	f.program(length)
	f.windows = make(map[string]int)
	before := heapAfterCollection()
	p := start(t, func(cfg *Config) { cfg.Sessions.CriticalPath.Mode = "bounded" }, consumertest.NewNop())
	agents := make([]*fleetAgent, sessions)
	for i := range agents {
		agents[i] = f.newAgent(i, epoch)
		binary.BigEndian.PutUint64(agents[i].id[8:], 0) // all windows have the same phase
		agents[i].id[1] = byte(i + 1)
	}
	for now := fleetEvery; now < length; now += fleetEvery {
		for _, a := range agents {
			require.NoError(t, p.ConsumeTraces(t.Context(), a.batchUntil(jvmthread.Time(now))))
		}
		if now%(5*time.Second) == 0 {
			heap, held := heapAfterCollection()-before, counted(p.tel, "held")
			t.Logf("after %v: %d held, %d on the heap", now, held, heap)
			if now > 5*time.Second {
				assert.InEpsilon(t, heap, held, 0.2, "after %v", now)
			}
		}
	}
	p.stop(t)
	assert.Zero(t, counted(p.tel, "held"))
}

// A large window is sent while it is being made: its spans are never in memory together. What is counted as held is what the heap holds.
func TestLargeWindowsAreNotKeptAsAWhole(t *testing.T) {
	if threadtest.Race {
		t.Skip("the race detector takes memory of its own")
	}
	const intervals, perSpan = 60_000, 800 // bytes
	var tel *componenttest.Telemetry
	var heap, held, most, mostHeld int64
	spans := 0
	largeWindow(t, intervals, withoutPaths, func(_ context.Context, td ptrace.Traces) error {
		spans += td.SpanCount()
		if spans > intervals/2 && spans <= intervals/2+maxPiece {
			most, mostHeld = heapAfterCollection()-heap, counted(tel, "held")-held
		}
		return nil
	}, func(of *componenttest.Telemetry) { tel, heap, held = of, heapAfterCollection(), counted(of, "held") })
	assert.Greater(t, spans, intervals)
	t.Logf("%d more on the heap, %d more held", most, mostHeld)
	assert.Less(t, most, int64(3*maxPiece*perSpan*2))
	assert.GreaterOrEqual(t, mostHeld, int64(maxPiece*perSpan))
	assert.Zero(t, counted(tel, "held"))
}

func TestSizeOfSpansIsWhatTheHeapHolds(t *testing.T) {
	if threadtest.Race {
		t.Skip("the race detector takes memory of its own")
	}
	var kept []ptrace.Traces
	var heap int64
	estimate := 0
	largeWindow(t, 60_000, withoutPaths, func(_ context.Context, td ptrace.Traces) error {
		if len(kept) == 0 {
			heap = heapAfterCollection()
		}
		kept = append(kept, td)
		estimate += sizeOf(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans())
		if len(kept) == 20 {
			assert.InEpsilon(t, heapAfterCollection()-heap, estimate*19/20, 0.2) // the first one was there before
		}
		return nil
	}, func(*componenttest.Telemetry) {})
	assert.Greater(t, len(kept), 20)
}
