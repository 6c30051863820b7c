// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadatatest"
)

const second = jvmthread.Time(time.Second)

// epoch is the start of the tests' sessions: a multiple of the window.
const epoch = 1_700_000_000 * second

// pipeline connects a test to a processor and a sink.
type pipeline struct {
	processor.Traces
	sink *consumertest.TracesSink
	tel  *componenttest.Telemetry
}

func start(t *testing.T, change func(*Config), next consumer.Traces) *pipeline {
	t.Helper()
	p := &pipeline{sink: new(consumertest.TracesSink), tel: componenttest.NewTelemetry()}
	if next == nil {
		next = p.sink
	}
	cfg := createDefaultConfig().(*Config)
	cfg.Sessions.CriticalPath.Mode = sessions.PathOff
	cfg.Sessions.AckWithin = time.Hour // windows have been sent when ConsumeTraces returns
	if change != nil {
		change(cfg)
	}
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = p.tel.NewTelemetrySettings()
	var err error
	p.Traces, err = NewFactory().CreateTraces(t.Context(), set, cfg, next)
	require.NoError(t, err)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	return p
}

func (p *pipeline) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Shutdown(context.Background()))
}

// metric asserts the value of a counter, with an optional attribute.
func (p *pipeline) metric(t *testing.T, name string, want int64, attrs ...string) {
	t.Helper()
	assert.Equal(t, want, p.sum(name, attrs...), "%s %v", name, attrs)
}

// sum returns the value of a counter, with an optional attribute; 0 if it never counted anything.
func (p *pipeline) sum(name string, attrs ...string) (sum int64) {
	got, err := p.tel.GetMetric(name)
	if err != nil {
		return 0
	}
	for _, dp := range got.Data.(metricdata.Sum[int64]).DataPoints {
		match := true
		for i := 0; i+1 < len(attrs); i += 2 {
			v, _ := dp.Attributes.Value(attrKey(attrs[i]))
			match = match && v.AsString() == attrs[i+1]
		}
		if match {
			sum += dp.Value
		}
	}
	return sum
}

// batch returns the carriers of a batch, with one thread that sleeps once in each of the given seconds.
func batch(id jvmthread.SessionID, number uint64, end string, seconds ...int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "orders")
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{Session: id, Batch: number, Before: 2 * (number - 1), End: end, Threads: []jvmthread.Thread{{ID: 7, Name: "worker"}}}
	for _, s := range seconds {
		at := epoch + jvmthread.Time(s)*second
		c.Events = append(c.Events,
			jvmthread.Event{Time: at + 1000, Thread: 7, Kind: jvmthread.KindSleepStart},
			jvmthread.Event{Time: at + 2000, Thread: 7, Kind: jvmthread.KindSleepEnd})
		c.Watermark = at + 3000
	}
	c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
	return td
}

var (
	one = jvmthread.SessionID{1}
	two = jvmthread.SessionID{2}
)

func names(all []ptrace.Traces) (out []string) {
	for _, td := range all {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					out = append(out, s.Name())
				}
			}
		}
	}
	return out
}

func TestOtherSpansPassUnchanged(t *testing.T) {
	p := start(t, nil, nil)
	td := batch(one, 1, "", 0)
	other := td.ResourceSpans().AppendEmpty()
	other.Resource().Attributes().PutStr("service.name", "frontend")
	other.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("GET /orders")
	want := ptrace.NewTraces()
	other.CopyTo(want.ResourceSpans().AppendEmpty())
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	require.Len(t, p.sink.AllTraces(), 1)
	assert.Equal(t, want, p.sink.AllTraces()[0], "carriers are removed, other spans are unchanged")
	p.stop(t)
}

func TestWindowsAreCutByTheWatermark(t *testing.T) {
	p := start(t, nil, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 0, 9)))
	assert.Empty(t, p.sink.AllTraces(), "the window is still open")
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 2, "", 12)))
	assert.Equal(t, []string{"threads", "thread", "unknown", "sleep", "runnable", "sleep", "runnable"}, names(p.sink.AllTraces()))
	p.metric(t, "otelcol_processor_thread_span_windows", 1)
	p.metric(t, "otelcol_processor_thread_span_spans", 7)
	p.metric(t, "otelcol_processor_thread_span_events", 4)
	p.metric(t, "otelcol_processor_thread_span_sessions", 1)
	p.stop(t)
}

func TestShutdownSendsOpenWindows(t *testing.T) {
	p := start(t, nil, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(two, 1, "", 1)))
	p.stop(t)
	require.Len(t, p.sink.AllTraces(), 2)
	for _, td := range p.sink.AllTraces() {
		cut, _ := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get("weft.window.cut")
		assert.Equal(t, "shutdown", cut.Str())
	}
	p.stop(t) // idempotent
}

func TestEndOfSessionClosesItsWindow(t *testing.T) {
	p := start(t, nil, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1)))
	assert.Equal(t, []string{"end"}, cuts(p))
	p.metric(t, "otelcol_processor_thread_span_sessions", 0)
	p.metric(t, "otelcol_processor_thread_span_held", 0)
	p.metric(t, "otelcol_processor_thread_span_intervals_unknown", 1)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1)))
	assert.Len(t, p.sink.AllTraces(), 1, "batches repeated after the end do not start a session")
	p.metric(t, "otelcol_processor_thread_span_anomalies", 1, "kind", "after_end")
	p.metric(t, "otelcol_processor_thread_span_events_lost", 2, "where", "refused")
	p.stop(t)
}

// cuts returns the reasons why the received windows ended.
func cuts(p *pipeline) (out []string) {
	for _, td := range p.sink.AllTraces() {
		cut, _ := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get("weft.window.cut")
		out = append(out, cut.Str())
	}
	return out
}

// A lost session continues when its agent reconnects: the processor joins it in the middle and refuses none of its batches.
func TestLostSessionReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 2, threadpdata.EndLost)))
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 2, "", 30)))
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 3, "", 45)))
		time.Sleep(2 * time.Second) // in the synctest bubble; an earlier batch might still arrive
		synctest.Wait()
		p.stop(t)
		assert.Equal(t, []string{"lost", "time", "shutdown"}, cuts(p))
		p.metric(t, "otelcol_processor_thread_span_events_lost", 0)
	})
}

// Constant slight reordering loses no batch; only a batch that is itself missing for long times out.
func TestReorderedBatchesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		for n := uint64(1); n < 400; n += 2 { // each pair is swapped, and the next pair starts before this one is complete
			require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, n+1, "")))
			if n > 1 {
				require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, n-2, "")))
			}
			time.Sleep(50 * time.Millisecond) // in the synctest bubble
			synctest.Wait()
		}
		p.metric(t, "otelcol_processor_thread_span_anomalies", 0, "kind", "batch_lost")
		p.stop(t)
	})
}

// If a batch before the end is missing, the session ends when the wait for that batch times out.
func TestEndAfterAMissingBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 3, threadpdata.EndExit, 5)))
		time.Sleep(7 * time.Second) // in the synctest bubble
		synctest.Wait()
		assert.Equal(t, []string{"end"}, cuts(p))
		p.metric(t, "otelcol_processor_thread_span_sessions", 0)
		p.stop(t)
	})
}

// A cancelled request loses no window.
func TestCancelledRequestLosesNoWindow(t *testing.T) {
	var got error
	next, err := consumer.NewTraces(func(ctx context.Context, _ ptrace.Traces) error {
		got = ctx.Err()
		return got
	})
	require.NoError(t, err)
	p := start(t, nil, next)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, p.ConsumeTraces(ctx, batch(one, 1, threadpdata.EndExit, 1)))
	require.NoError(t, got)
	p.metric(t, "otelcol_processor_thread_span_windows_refused", 0)
	p.stop(t)
}

// Spans that only look like carriers do not start a session.
func TestBadCarriersStartNoSession(t *testing.T) {
	p := start(t, func(c *Config) { c.Sessions.MaxSessions = 1 }, nil)
	bad := batch(two, 1, "", 1)
	bad.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Clear()
	require.NoError(t, p.ConsumeTraces(t.Context(), bad))
	p.metric(t, "otelcol_processor_thread_span_sessions", 0)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1)))
	assert.Equal(t, []string{"end"}, cuts(p))
	p.stop(t)
}

func TestSessionsOverTheLimitAreRefusedAndCounted(t *testing.T) {
	p := start(t, func(c *Config) { c.Sessions.MaxSessions = 1 }, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(two, 1, "", 1, 2)))
	p.metric(t, "otelcol_processor_thread_span_events_lost", 4, "where", "refused")
	p.metric(t, "otelcol_processor_thread_span_anomalies", 1, "kind", "session_limit")
	p.stop(t)
	assert.Len(t, p.sink.AllTraces(), 1)
}

func TestSpansThatOnlyLookLikeCarriersAreDroppedAndCounted(t *testing.T) {
	p := start(t, nil, nil)
	td := batch(one, 1, "", 1)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("weft.raw.version", "first")
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	p.metric(t, "otelcol_processor_thread_span_anomalies", 1, "kind", "bad_carrier")
	p.metric(t, "otelcol_processor_thread_span_events_lost", 2, "where", "refused")
	p.stop(t)
	assert.Empty(t, p.sink.AllTraces())
}

func TestRejectedWindowIsCountedAndNotRepeated(t *testing.T) {
	p := start(t, nil, consumertest.NewErr(consumererror.NewPermanent(errors.New("no such tenant"))))
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1)))
	p.metric(t, "otelcol_processor_thread_span_windows_refused", 1)
	p.stop(t)
}

// The wait for a missing batch times out; its events are counted on the window, and the thread's state is unknown from there.
func TestMissingBatchTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 3, "", 15)))
		assert.Empty(t, p.sink.AllTraces())
		time.Sleep(7 * time.Second) // in the synctest bubble
		synctest.Wait()
		require.Len(t, p.sink.AllTraces(), 1)
		missed, _ := p.sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get("weft.events.missed")
		assert.Equal(t, int64(2), missed.Int())
		p.metric(t, "otelcol_processor_thread_span_events_lost", 2, "where", "missed")
		p.metric(t, "otelcol_processor_thread_span_anomalies", 1, "kind", "batch_lost")
		p.metric(t, "otelcol_processor_thread_span_batches_reordered", 1)
		p.stop(t)
	})
}

func TestSilentSessionIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 1)))
		time.Sleep(62 * time.Second) // in the synctest bubble
		synctest.Wait()
		require.Len(t, p.sink.AllTraces(), 1)
		p.metric(t, "otelcol_processor_thread_span_sessions", 0)
		require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 2, "", 70)))
		p.metric(t, "otelcol_processor_thread_span_sessions", 1)
		p.stop(t)
		assert.Len(t, p.sink.AllTraces(), 2, "it may reconnect and is then joined in the middle")
	})
}

func TestBudgetFoldsAndCounts(t *testing.T) {
	p := start(t, func(c *Config) { c.Sessions.MaxSpansPerWindow = 4 }, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, 1, 2, 3)))
	assert.Len(t, names(p.sink.AllTraces()), 4)
	metadatatest.AssertEqualProcessorThreadSpanFolded(t, p.tel, []metricdata.DataPoint[int64]{{Value: 5}}, metricdatatest.IgnoreTimestamp())
	p.stop(t)
}
