// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Virtual threads share a row by group, which adds up what each of them had; platform threads keep their rows.
func TestVirtualThreadsShareRows(t *testing.T) {
	const n = 1000 // all have spans
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.VirtualThreads(sym, n, true)
	id := jvmthread.SessionID{1}
	e := drive.New(engine.DefaultConfig(), sym)
	emitter, c := threadpdata.NewEmitter(id, sym, e.Waits()), newCollection()
	var blocked time.Duration
	yield := func(w *windows.Window) {
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				if iv.Wait.Contended() {
					blocked += time.Duration(iv.End - iv.Start)
				}
			}
		}
		w.Select(100_000, 0)
		traces := ptrace.NewTraces()
		rs := traces.ResourceSpans().AppendEmpty()
		threadpdata.FillResource(rs.Resource(), id, 1, nil)
		emitter.Append(w, nil, rs.ScopeSpans().AppendEmpty().Spans())
		c.add(traces)
	}
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, windows.CutLost, yield)
	s := c.summary()
	rows, threads, sum := map[string]Thread{}, 0, time.Duration(0)
	for _, row := range s.Threads {
		rows[row.Name] = row
		threads += row.Threads
		sum += row.Blocked
	}
	assert.Len(t, rows, threadtest.CrowdPlatform+2)
	assert.Equal(t, threadtest.CrowdPlatform+n, threads)
	assert.Equal(t, blocked, sum)
	unnamed := rows["virtual threads"] // spans do not say where threads were started
	assert.Equal(t, Thread{
		Name: "virtual threads", Virtual: true, Service: unnamed.Service, Threads: n*6/10 + n/20, Blocks: n * 6 / 10, Blocked: blocked, Time: unnamed.Time,
	}, unnamed)
	assert.Equal(t, n*3/10+n/20, rows["session-*"].Threads)
	var text strings.Builder
	require.NoError(t, s.WriteText(&text, 10))
	assert.Contains(t, text.String(), "virtual threads (650 threads)")
	assert.NotContains(t, text.String(), "with spans")
}
