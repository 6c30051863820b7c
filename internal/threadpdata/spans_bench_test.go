// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// BenchmarkSpans creates the thousands of spans of one window; BenchmarkSpansFloor creates as many plain spans with six attributes, and a
// link on every fourth. One operation is one span in both.
func BenchmarkSpans(b *testing.B) {
	withWindow(b, func(w *window.Window, e *threadpdata.Emitter) {
		b.ReportAllocs()
		b.ResetTimer()
		for done := 0; done < b.N; {
			td := ptrace.NewTraces()
			spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			e.Append(w, nil, spans)
			done += spans.Len()
		}
		b.StopTimer()
	})
}

func BenchmarkSpansFloor(b *testing.B) {
	b.ReportAllocs()
	for done := 0; done < b.N; done += 4000 {
		td := ptrace.NewTraces()
		spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		spans.EnsureCapacity(4000)
		for i := range 4000 {
			s := spans.AppendEmpty()
			s.SetTraceID(pcommon.TraceID{1, byte(i)})
			s.SetSpanID(pcommon.SpanID{2, byte(i), byte(i >> 8)})
			s.SetName("runnable")
			s.SetKind(ptrace.SpanKindInternal)
			s.SetStartTimestamp(pcommon.Timestamp(i))
			s.SetEndTimestamp(pcommon.Timestamp(i + 1))
			a := s.Attributes()
			a.EnsureCapacity(6)
			a.PutStr("thread.name", "worker")
			a.PutInt("thread.id", int64(i))
			a.PutStr("jvm.thread.state", "runnable")
			a.PutStr("weft.state", "runnable")
			a.PutInt("weft.interval.time", int64(i))
			a.PutBool("weft.interval.open", false)
			if i%4 == 0 {
				s.Links().AppendEmpty().SetSpanID(pcommon.SpanID{3, byte(i)})
			}
		}
	}
}

func withWindow(b *testing.B, do func(*window.Window, *threadpdata.Emitter)) {
	b.Helper()
	sim := threadtest.Simulate(1, 16, 4, 8000)
	sym := symbols.New(symbols.DefaultLimits())
	for _, name := range []string{"com.acme.OrderBook", "com.acme.Queue", "com.acme.Account"} {
		sym.InternClass(name)
	}
	byThread := make(map[jvmthread.ThreadID][]jvmthread.Event)
	for _, ev := range sim.Events {
		byThread[ev.Thread] = append(byThread[ev.Thread], ev)
	}
	e := engine.New(engine.DefaultConfig(), nil)
	part := uint32(0)
	for id, evs := range byThread {
		sym.SetThread(jvmthread.Thread{ID: id, Name: "worker-" + string(rune('a'+id)), Group: "main"})
		e.Add(ordering.Part{Batch: 1, Part: part, Parts: uint32(len(byThread)), Events: evs})
		part++
	}
	emitter := threadpdata.NewEmitter(jvmthread.SessionID{1}, sym, nil)
	e.Close(window.CutEnd, func(w *window.Window) {
		if w.End.Sub(w.Start) > time.Microsecond {
			do(w, emitter)
		}
	})
}
