// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// eventsOf returns the events of some kinds, with times in microseconds since the start.
func eventsOf(t *testing.T, text []byte, only ...jvmthread.Kind) (events []jvmthread.Event, sym *symbols.Table) {
	t.Helper()
	sym = symbols.New(symbols.DefaultLimits())
	c, stats, err := threadtest.Decode(&format, recording.Options{Symbols: sym}, text, 0)
	threadtest.CheckDecoded(t, "otlp", c, stats, err)
	require.Empty(t, c.Problems)
	for _, ev := range c.Events {
		for _, kind := range only {
			if ev.Kind == kind {
				ev.Time = (ev.Time - began) / 1000
				events = append(events, ev)
			}
		}
	}
	return events, sym
}

// Spans of the application, the stack of the owner and CPU times are on spans, and so become events.
func TestContextsAndOwners(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Book"), Hash: 7}
	stack, owners := sym.InternStack("at com.acme.Book.add(Book.java:3)"), sym.InternStack("at com.acme.Report.write(Report.java:9)")
	mine := jvmthread.SpanContext{TraceID: [16]byte{1, 15: 2}, SpanID: [8]byte{3, 7: 4}}
	others := jvmthread.SpanContext{TraceID: [16]byte{5, 15: 6}, SpanID: [8]byte{7, 7: 8}}
	for id, name := range map[jvmthread.ThreadID]string{1: "exec-1", 2: "report"} {
		sym.SetThread(jvmthread.Thread{ID: id, Name: name})
	}
	at := func(us int64) jvmthread.Time { return began + jvmthread.Time(us*1000) }
	text := spansOf(t, jvmthread.SessionID{1}, []jvmthread.Event{
		{Kind: jvmthread.KindYield, Time: at(0), Thread: 3},
		{Kind: jvmthread.KindThreadStart, Time: at(10), Thread: 1},
		{Kind: jvmthread.KindRunQueue, Time: at(10), Thread: 1, Arg: 2_000},
		{Kind: jvmthread.KindCPU, Time: at(10), Thread: 1, Arg: 1_000},
		{Kind: jvmthread.KindThreadStart, Time: at(11), Thread: 2},
		{Kind: jvmthread.KindContext, Time: at(20), Thread: 1, Span: mine},
		{Kind: jvmthread.KindRunQueue, Time: at(100), Thread: 1, Arg: 22_000},
		{Kind: jvmthread.KindCPU, Time: at(100), Thread: 1, Arg: 61_000},
		{Kind: jvmthread.KindContendedEnter, Time: at(100), Thread: 1, Peer: 2, Lock: lock, Stack: stack},
		{Kind: jvmthread.KindOwnerStack, Time: at(100), Thread: 1, Peer: 2, Lock: lock, Stack: owners},
		{Kind: jvmthread.KindOwnerContext, Time: at(100), Thread: 1, Span: others},
		{Kind: jvmthread.KindContendedEntered, Time: at(900), Thread: 1, Lock: lock},
		{Kind: jvmthread.KindRunQueue, Time: at(900), Thread: 1, Arg: 30_000},
		{Kind: jvmthread.KindCPU, Time: at(900), Thread: 1, Arg: 62_000},
		{Kind: jvmthread.KindCPU, Time: at(950), Thread: 1, Arg: 76_000},
		{Kind: jvmthread.KindContext, Time: at(940), Thread: 1},
		{Kind: jvmthread.KindSleepStart, Time: at(950), Thread: 1, Arg: 5000, Stack: stack},
		{Kind: jvmthread.KindSleepEnd, Time: at(960), Thread: 1, Flags: jvmthread.FlagInterrupted},
		{Kind: jvmthread.KindThreadEnd, Time: at(970), Thread: 1},
		{Kind: jvmthread.KindYield, Time: at(2000), Thread: 3},
	}, sym)
	events, got := eventsOf(t, text, jvmthread.KindContext, jvmthread.KindContendedEnter, jvmthread.KindOwnerStack, jvmthread.KindOwnerContext,
		jvmthread.KindCPU, jvmthread.KindRunQueue, jvmthread.KindThreadStart, jvmthread.KindThreadEnd, jvmthread.KindSleepStart, jvmthread.KindSleepEnd)
	class, text1 := got.InternClass("com.acme.Book"), got.InternStack("at com.acme.Book.add(Book.java:3)")
	text2 := got.InternStack("at com.acme.Report.write(Report.java:9)")
	lock.Class = class
	assert.ElementsMatch(t, []jvmthread.Event{
		{Kind: jvmthread.KindSleepEnd, Thread: 3, Flags: jvmthread.FlagSnapshot}, // it runs
		{Kind: jvmthread.KindThreadStart, Time: 10, Thread: 1},
		{Kind: jvmthread.KindRunQueue, Time: 10, Thread: 1},
		{Kind: jvmthread.KindCPU, Time: 10, Thread: 1},
		{Kind: jvmthread.KindThreadStart, Time: 11, Thread: 2},
		{Kind: jvmthread.KindRunQueue, Time: 100, Thread: 1, Arg: 20_000},
		{Kind: jvmthread.KindCPU, Time: 100, Thread: 1, Arg: 60_000},
		{Kind: jvmthread.KindContext, Time: 100, Thread: 1, Span: mine},
		{Kind: jvmthread.KindContendedEnter, Time: 100, Thread: 1, Peer: 2, Lock: lock, Stack: text1},
		{Kind: jvmthread.KindOwnerStack, Time: 100, Thread: 1, Peer: 2, Lock: lock, Stack: text2},
		{Kind: jvmthread.KindOwnerContext, Time: 100, Thread: 1, Span: others},
		{Kind: jvmthread.KindRunQueue, Time: 900, Thread: 1, Arg: 20_000},
		{Kind: jvmthread.KindCPU, Time: 900, Thread: 1, Arg: 60_000},
		{Kind: jvmthread.KindRunQueue, Time: 950, Thread: 1, Arg: 20_000},
		{Kind: jvmthread.KindCPU, Time: 950, Thread: 1, Arg: 74_000},
		{Kind: jvmthread.KindContext, Time: 950, Thread: 1},
		{Kind: jvmthread.KindSleepStart, Time: 950, Thread: 1, Arg: 5000, Stack: text1},
		{Kind: jvmthread.KindSleepEnd, Time: 960, Thread: 1, Flags: jvmthread.FlagInterrupted},
		{Kind: jvmthread.KindThreadEnd, Time: 970, Thread: 1},
	}, events)
}

// With the option calls of thread_span, the calls that released no thread are events of spans.
func TestCalls(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Queue"), Hash: 7}
	at := func(us int64) jvmthread.Time { return began + jvmthread.Time(us*1000) }
	calls := []jvmthread.Event{
		{Kind: jvmthread.KindNotify, Time: at(10), Thread: 1, Lock: lock},
		{Kind: jvmthread.KindNotifyAll, Time: at(20), Thread: 1, Lock: lock},
		{Kind: jvmthread.KindYield, Time: at(30), Thread: 1},
		{Kind: jvmthread.KindInterruptCalled, Time: at(40), Thread: 1, Peer: 2},
		{Kind: jvmthread.KindStop, Time: at(50), Thread: 1, Peer: 2},
	}
	e := drive.New(engine.DefaultConfig(), sym)
	emitter := threadpdata.NewEmitter(jvmthread.SessionID{1}, sym, e.Waits())
	emitter.Calls = &threadpdata.Calls{}
	e.Watch(emitter.Calls.See)
	events := append([]jvmthread.Event{{Kind: jvmthread.KindYield, Time: at(0), Thread: 2}}, calls...)
	e.Add(ordering.Batch{Number: 1, Watermark: at(60), Events: append(events, jvmthread.Event{Kind: jvmthread.KindYield, Time: at(60), Thread: 2})})
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	spanlines.Resource(&recording.Session{ID: jvmthread.SessionID{1}}, "native").CopyTo(rs.Resource())
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { emitter.Append(w, nil, rs.ScopeSpans().AppendEmpty().Spans()) })
	text, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
	require.NoError(t, err)
	got, names := eventsOf(t, text, jvmthread.KindNotify, jvmthread.KindNotifyAll, jvmthread.KindInterruptCalled, jvmthread.KindStop)
	require.Len(t, got, 4)
	lock.Class = names.InternClass("com.acme.Queue")
	for i, want := range []jvmthread.Event{calls[0], calls[1], calls[3], calls[4]} {
		want.Time = (want.Time - began) / 1000
		if want.Lock.Hash != 0 {
			want.Lock = lock
		}
		assert.Equal(t, want, got[i])
	}
}
