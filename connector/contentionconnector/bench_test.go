// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/connector/contentionconnector/internal/metadata"
	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

const (
	benchThreads = 32
	benchRounds  = 16
	benchBatches = 4 // distinct batches, sent repeatedly with later times
)

// round appends one iteration of a thread, in microseconds: it blocks, acquires the lock, sleeps, and waits or notifies.
func round(events []jvmthread.Event, th, n int) []jvmthread.Event {
	at := epoch + jvmthread.Time(n)*400_000 + jvmthread.Time(th)*1000
	id := jvmthread.ThreadID(th + 1)
	hot := jvmthread.LockID{Class: 1, Hash: uint32(th % 4)}
	queue := jvmthread.LockID{Class: 2, Hash: uint32(th / 2)}
	add := func(ev jvmthread.Event) {
		ev.Time, ev.Thread = at, id
		events = append(events, ev)
		at += 50_000
	}
	add(jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: hot, Peer: jvmthread.ThreadID((th+1)%benchThreads + 1), Stack: 1})
	add(jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: hot})
	add(jvmthread.Event{Kind: jvmthread.KindSleepStart, Stack: 2})
	add(jvmthread.Event{Kind: jvmthread.KindSleepEnd})
	if th%2 == 0 {
		add(jvmthread.Event{Kind: jvmthread.KindWait, Lock: queue, Stack: 3})
		at += 60_000
		add(jvmthread.Event{Kind: jvmthread.KindWaited, Lock: queue})
		at -= 40_000
		add(jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: queue})
	} else {
		at += 50_000
		add(jvmthread.Event{Kind: jvmthread.KindNotify, Lock: queue})
	}
	return events
}

func benchSymbols() *symbols.Table {
	sym := symbols.New(symbols.DefaultLimits())
	sym.InternClass("com.acme.OrderBook")
	sym.InternClass("com.acme.OrderQueue")
	for _, s := range []string{"at com.acme.OrderBook.add(OrderBook.java:42)", "at java.lang.Thread.sleep(Thread.java:1)\nat com.acme.Worker.run(Worker.java:7)", "at java.lang.Object.wait(Object.java:366)\nat com.acme.OrderQueue.take(OrderQueue.java:20)"} {
		sym.InternStack(s)
	}
	return sym
}

// benchBatch returns a batch.
func benchBatch(number int) *threadpdata.Carrier {
	c := &threadpdata.Carrier{Session: one, Batch: uint64(number) + 1, Watermark: epoch + jvmthread.Time((number+1)*benchRounds)*400_000}
	for th := range benchThreads {
		first := len(c.Events)
		for r := range benchRounds {
			c.Events = round(c.Events, th, number*benchRounds+r)
		}
		c.Threads = append(c.Threads, jvmthread.Thread{ID: c.Events[first].Thread, Name: fmt.Sprintf("http-exec-%d", th)})
	}
	c.Before = uint64(number * len(c.Events))
	return c
}

// later moves a batch to later times: its events follow those of its previous use by the length of all batches.
func later(c *threadpdata.Carrier) {
	const turn = benchBatches * benchRounds * 400_000
	for i := range c.Events {
		c.Events[i].Time += turn
	}
	c.Batch, c.Before, c.Watermark = c.Batch+benchBatches, c.Before+uint64(benchBatches*len(c.Events)), c.Watermark+turn
}

// BenchmarkEvent measures the complete path of an event from a carrier, which it writes, to metrics: parsing, sorting, states, interactions, windows, sums,
// flushes. One operation is one event.
func BenchmarkEvent(b *testing.B) {
	sums := func(c *Config) { c.Sessions.CriticalPath.Mode, c.Exemplars.Enabled = sessions.PathOff, false }
	for name, change := range map[string]func(*Config){
		"sums":         sums,
		"profiles":     sums, // in addition: the difference is what they cost
		"exemplars":    func(c *Config) { c.Sessions.CriticalPath.Mode = sessions.PathOff },
		"criticalPath": nil,
	} {
		b.Run(name, func(b *testing.B) {
			cfg := createDefaultConfig().(*Config)
			cfg.Sessions.Window = 50 * time.Millisecond // about 28 000 events
			if change != nil {
				change(cfg)
			}
			f, set := NewFactory(), connectortest.NewNopSettings(metadata.Type)
			c := benchConnector(b, f, set, cfg, func() {
				if name == "profiles" {
					_, err := f.CreateTracesToProfiles(b.Context(), set, cfg, consumertest.NewNop())
					require.NoError(b, err)
				}
			})
			sym, batches := benchSymbols(), make([]*threadpdata.Carrier, benchBatches)
			for n := range batches {
				batches[n] = benchBatch(n)
			}
			report := cpu(b)
			b.ReportAllocs()
			b.ResetTimer()
			for done, n := 0, 0; done < b.N; n++ {
				batch := batches[n%benchBatches]
				if n >= benchBatches {
					later(batch)
				}
				done += len(batch.Events)
				td := ptrace.NewTraces()
				rs := td.ResourceSpans().AppendEmpty()
				rs.Resource().Attributes().PutStr("service.name", "orders")
				ss := rs.ScopeSpans().AppendEmpty()
				threadpdata.MarkCarriers(ss.Scope())
				batch.AppendTo(ss.Spans(), sym)
				if err := c.ConsumeTraces(b.Context(), td); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			report()
			require.NoError(b, c.Shutdown(context.Background()))
		})
	}
}

// cpu measures CPU time, since elapsed time depends on other load on the machine. The returned function reports the CPU time per
// operation.
func cpu(b *testing.B) (report func()) {
	b.Helper()
	spent := func() int64 {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return u.Utime.Nano() + u.Stime.Nano()
	}
	before := spent()
	return func() { b.ReportMetric(float64(spent()-before)/float64(b.N), "cpu-ns/op") }
}

// benchConnector starts a connector, after creating other sides of it.
func benchConnector(b *testing.B, f connector.Factory, set connector.Settings, cfg any, others func()) connector.Traces {
	b.Helper()
	c, err := f.CreateTracesToMetrics(b.Context(), set, cfg, consumertest.NewNop())
	require.NoError(b, err)
	others()
	require.NoError(b, c.Start(b.Context(), componenttest.NewNopHost()))
	return c
}

// BenchmarkSpanMetrics measures contrib's span metrics connector on the spans of the same states. One operation is one span.
func BenchmarkSpanMetrics(b *testing.B) {
	td := benchSpans()
	f := spanmetricsconnector.NewFactory()
	c := benchConnector(b, f, connectortest.NewNopSettings(f.Type()), f.CreateDefaultConfig(), func() {})
	n := td.SpanCount()
	b.ReportAllocs()
	report := cpu(b)
	b.ResetTimer()
	for done := 0; done < b.N; done += n {
		if err := c.ConsumeTraces(b.Context(), td); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	report()
	require.NoError(b, c.Shutdown(context.Background()))
}

// benchSpans returns one window of the workload as spans, none folded.
func benchSpans() ptrace.Traces {
	sym := benchSymbols()
	cfg := engine.DefaultConfig()
	e, emitter := drive.New(cfg, nil), threadpdata.NewEmitter(one, sym, nil)
	batch := benchBatch(0)
	e.Add(ordering.Batch{Number: 1, Watermark: batch.Watermark, Events: batch.Events})
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "orders")
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { emitter.Append(w, nil, rs.ScopeSpans().AppendEmpty().Spans()) })
	return td
}

// BenchmarkFlush measures the time and memory of a series at each flush. One operation is one histogram with its share of the rest.
func BenchmarkFlush(b *testing.B) {
	for _, exponential := range []bool{false, true} {
		b.Run(map[bool]string{false: "explicit", true: "exponential"}[exponential], func(b *testing.B) {
			cfg := createDefaultConfig().(*Config)
			bounds, _ := cfg.Histogram.buckets()
			maxSize := 0
			if exponential {
				bounds, maxSize = nil, 160
			}
			sym := symbols.New(symbols.DefaultLimits())
			const series = 1000
			for i := range series {
				sym.InternClass(fmt.Sprintf("com.acme.Lock%d", i))
			}
			writer := threadpdata.MetricWriter{Bounds: bounds}
			emitter := threadpdata.NewEmitter(one, sym, nil)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			a := contention.New(&contention.Config{
				Buckets: bounds, MaxSize: maxSize, MaxSeries: series, Expiry: time.Hour, Budget: &contention.Budget{Limit: 1 << 20},
			}, sym, nil, time.Unix(0, 0))
			for i := range series {
				for d := time.Microsecond; d < time.Minute; d *= 3 {
					a.Aggregate(&jvmthread.Aggregate{Series: []jvmthread.Series{
						{Kind: jvmthread.KindContendedEnter, Class: jvmthread.ClassID(i + 1), Sum: int64(d), Max: int64(d), Offset: 60, Buckets: []uint64{1}},
					}})
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += series {
				a.Flush(nil, time.Unix(1, 0), false, func(st *contention.Statement) {
					writer.Write(st, emitter, pmetric.NewMetricSlice())
				})
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/series, "B/series")
			runtime.KeepAlive(a)
		})
	}
}
