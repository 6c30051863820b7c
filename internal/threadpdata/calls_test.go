// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Each call is an event of its window; those of a thread over the limit are counted.
func TestCallsOfEachWindow(t *testing.T) {
	const ms = jvmthread.Time(time.Millisecond)
	sym := symbols.New(symbols.DefaultLimits())
	events := []jvmthread.Event{{Time: ms, Thread: 1, Kind: jvmthread.KindThreadStart}}
	for i := range jvmthread.Time(300) {
		events = append(events, jvmthread.Event{Time: 2*ms + i, Thread: 1, Kind: jvmthread.KindYield})
	}
	stack := sym.InternStack("at com.acme.Main.run(Main.java:7)")
	events = append(
		events,
		jvmthread.Event{Time: 10 * ms, Thread: 1, Kind: jvmthread.KindNotify, Stack: stack, Lock: jvmthread.LockID{Class: sym.InternClass("com.acme.Queue"), Hash: 5}},
		jvmthread.Event{Time: 20 * ms, Thread: 1, Peer: 2, Kind: jvmthread.KindInterruptCalled},
	)
	cfg := engine.DefaultConfig()
	cfg.Window = 10 * time.Millisecond
	e := drive.New(cfg, sym)
	emitter := NewEmitter(jvmthread.SessionID{1}, sym, nil)
	emitter.Calls = new(Calls)
	e.Watch(emitter.Calls.See)
	var threads []ptrace.Span
	yield := func(w *window.Window) {
		spans := ptrace.NewSpanSlice()
		emitter.Append(w, Prepare(w, nil, 0), spans)
		for _, s := range spans.All() {
			if _, ok := s.Attributes().Get(attrThreadDaemon); ok {
				threads = append(threads, s)
			}
		}
	}
	e.Batch(events, 0, 20*ms, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	require.Len(t, threads, 3)
	assert.Equal(t, maxThreadCalls, threads[0].Events().Len())
	folded, _ := threads[0].Attributes().Get(attrFoldedCalls)
	assert.EqualValues(t, 300-maxThreadCalls, folded.Int())
	require.Equal(t, 1, threads[1].Events().Len())
	assert.Equal(t, map[string]any{
		"weft.lock.class": "com.acme.Queue", "weft.lock.id": int64(5), "code.function.name": "com.acme.Main.run", "code.line.number": int64(7),
	}, threads[1].Events().At(0).Attributes().AsRaw())
	require.Equal(t, 1, threads[2].Events().Len(), "the last window has what happens at its end")
	assert.Equal(t, "interrupt", threads[2].Events().At(0).Name())
	assert.Empty(t, emitter.Calls.list)
}

// The root counts the calls of threads that have no span.
func TestCallsOfThreadsWithoutASpan(t *testing.T) {
	calls := new(Calls)
	calls.See([]jvmthread.Event{
		{Time: 1, Thread: 1, Kind: jvmthread.KindYield},
		{Time: 2, Thread: 2, Kind: jvmthread.KindYield},
		{Time: 3, Thread: 2, Kind: jvmthread.KindYield},
		{Time: 4, Thread: 3, Kind: jvmthread.KindYield},
	})
	w := &window.Window{End: 10, Lanes: []*window.Lane{{Thread: 1}, {Thread: 2, Hidden: true}}}
	calls.begin(w)
	assert.Equal(t, 3, calls.without(w), "two of a folded thread and one of an unknown one")
}

// Calls over the limit of a window are counted, too.
func TestCallsOverTheLimitAreCounted(t *testing.T) {
	calls, events := new(Calls), make([]jvmthread.Event, maxCalls+10)
	for i := range events {
		events[i] = jvmthread.Event{Time: jvmthread.Time(i), Thread: 1, Kind: jvmthread.KindYield}
	}
	calls.See(events)
	w := &window.Window{End: maxCalls + 10}
	emitter, s := NewEmitter(jvmthread.SessionID{1}, symbols.New(symbols.DefaultLimits()), nil), ptrace.NewSpan()
	emitter.Calls = calls
	n := calls.begin(w)
	emitter.putCalls(1, s)
	calls.end(n)
	folded, _ := s.Attributes().Get(attrFoldedCalls)
	assert.EqualValues(t, maxCalls+10-maxThreadCalls, folded.Int())
	assert.Empty(t, calls.dropped)
}
