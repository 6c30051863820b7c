// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
)

// largeWindow sends the events of a window of about a number of intervals to a processor that keeps all spans. It calls ended before it ends
// the window.
func largeWindow(tb testing.TB, intervals int, change func(*Config), next consumer.ConsumeTracesFunc, ended func(*componenttest.Telemetry)) {
	tb.Helper()
	const every = 10 * time.Millisecond
	tel := componenttest.NewTelemetry()
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	sink, err := consumer.NewTraces(next)
	require.NoError(tb, err)
	cfg := createDefaultConfig().(*Config)
	cfg.Sessions.Window, cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.AckWithin = time.Hour, 0, time.Hour
	cfg.Sessions.MaxIntervalsPerWindow = math.MaxInt32
	change(cfg)
	p, err := NewFactory().CreateTraces(tb.Context(), set, cfg, sink)
	require.NoError(tb, err)
	require.NoError(tb, p.Start(tb.Context(), componenttest.NewNopHost()))
	f := fleet{sessions: 1, rate: 100_000}
	length := time.Duration(intervals) * time.Second / time.Duration(f.rate)
	f.program(length)
	a := f.newAgent(1, epoch)
	for now := every; now <= length; now += every {
		require.NoError(tb, p.ConsumeTraces(tb.Context(), a.batchUntil(jvmthread.Time(now))))
	}
	ended(tel)
	require.NoError(tb, p.Shutdown(context.Background()))
}

// BenchmarkLargeWindow ends a window of a million intervals, all of which get a span. The next consumer drops them. It reports how much memory
// the process takes for that, in addition to what it had before, and the time for each span.
func BenchmarkLargeWindow(b *testing.B) {
	for b.Loop() {
		spans, pieces := 0, 0
		var begin time.Time
		var before int64
		var peak func(chan struct{}) uint64
		var stop chan struct{}
		largeWindow(b, 1_000_000, func(*Config) {}, func(_ context.Context, td ptrace.Traces) error {
			spans += td.SpanCount()
			pieces++
			return nil
		}, func(*componenttest.Telemetry) {
			before = heapAfterCollection()
			peak, stop = watchPeak()
			begin = time.Now()
		})
		took := time.Since(begin)
		b.ReportMetric(float64(int64(peak(stop))-before)/1e6, "more-MB")
		b.ReportMetric(float64(before)/1e6, "before-MB")
		b.ReportMetric(float64(took.Nanoseconds())/float64(max(1, spans)), "ns/span")
		b.ReportMetric(float64(spans), "spans")
		b.ReportMetric(float64(pieces), "pieces")
		b.ReportMetric(0, "ns/op")
	}
}

func heapAfterCollection() int64 {
	runtime.GC()
	runtime.GC() // what finalizers and pools have kept
	return heapBytes()
}
