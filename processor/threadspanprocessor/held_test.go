// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

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

func heapAfterCollection() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools have kept
	return heapBytes()
}
