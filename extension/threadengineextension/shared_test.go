// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension_test

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/pmetrictest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/weft-otel/weft/connector/contentionconnector"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/processor/threadspanprocessor"
)

var engineID = component.MustNewID("thread_engine")

// host has the given extensions.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// result is what a processor and a connector made of a session.
type result struct {
	spans   []string // of each window, as JSON
	ids     map[pcommon.SpanID]bool
	metrics []pmetric.Metrics
}

// analyze passes a session to a processor and a connector, in the order in which a collector with both might do.
func analyze(t *testing.T, shared bool, swap func(batch int) bool) (r result) {
	t.Helper()
	options := sessions.DefaultOptions()
	options.Window, options.MaxSpansPerWindow, options.AckWithin = 10*time.Millisecond, 60, time.Hour
	own := threadengineextension.Options{Options: options}
	extensions := host{}
	if shared {
		cfg := threadengineextension.NewFactory().CreateDefaultConfig().(*threadengineextension.Config)
		cfg.Sessions = options
		ext, err := threadengineextension.NewFactory().Create(t.Context(), extensiontest.NewNopSettings(engineID.Type()), cfg)
		require.NoError(t, err)
		require.NoError(t, ext.Start(t.Context(), extensions))
		defer func() { require.NoError(t, ext.Shutdown(context.Background())) }()
		extensions[engineID] = ext
		own = threadengineextension.DefaultOptions()
		own.Engine = engineID
	}
	spans, points := new(consumertest.TracesSink), new(consumertest.MetricsSink)
	p, c := newProcessor(t, own, spans), newConnector(t, own, points)
	require.NoError(t, p.Start(t.Context(), extensions))
	require.NoError(t, c.Start(t.Context(), extensions))
	for i, td := range session() {
		order := []interface {
			ConsumeTraces(context.Context, ptrace.Traces) error
		}{p, c}
		if swap(i) {
			slices.Reverse(order)
		}
		for _, to := range order {
			require.NoError(t, to.ConsumeTraces(t.Context(), td))
		}
	}
	require.NoError(t, c.Shutdown(t.Context()))
	require.NoError(t, p.Shutdown(t.Context()))

	r.metrics, r.ids = points.AllMetrics(), make(map[pcommon.SpanID]bool)
	for _, td := range spans.AllTraces() {
		text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
		require.NoError(t, err)
		r.spans = append(r.spans, string(text))
		for _, s := range td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
			r.ids[s.SpanID()] = true
		}
	}
	return r
}

func newProcessor(t *testing.T, options threadengineextension.Options, next *consumertest.TracesSink) processor.Traces {
	t.Helper()
	f := threadspanprocessor.NewFactory()
	cfg := f.CreateDefaultConfig().(*threadspanprocessor.Config)
	cfg.Sessions = options
	p, err := f.CreateTraces(t.Context(), processortest.NewNopSettings(f.Type()), cfg, next)
	require.NoError(t, err)
	return p
}

func newConnector(t *testing.T, options threadengineextension.Options, next *consumertest.MetricsSink) connector.Traces {
	t.Helper()
	f := contentionconnector.NewFactory()
	cfg := f.CreateDefaultConfig().(*contentionconnector.Config)
	cfg.Sessions = options
	c, err := f.CreateTracesToMetrics(t.Context(), connectortest.NewNopSettings(f.Type()), cfg, next)
	require.NoError(t, err)
	return c
}

// session returns the carriers of a session.
func session() (all []ptrace.Traces) {
	events, sym := threadtest.Recorded(3, 16, 6, 3000)
	for i := range events {
		events[i].Time = 1_700_000_000_000_000_000 + 5000*events[i].Time
	}
	before := uint64(0)
	for number := uint64(1); len(events) > 0; number++ {
		n := min(400, len(events))
		c := threadpdata.Carrier{
			Session: jvmthread.SessionID{1, 2, 3}, Batch: number, Before: before, Watermark: events[n-1].Time, Events: slices.Clone(events[:n]),
		}
		slices.SortStableFunc(c.Events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Thread, b.Thread) })
		for i := range c.Events {
			if i == 0 || c.Events[i].Thread != c.Events[i-1].Thread {
				c.Threads = append(c.Threads, sym.Thread(c.Events[i].Thread))
			}
			if c.Events[i].Kind != jvmthread.KindGap {
				before++
			}
		}
		if events = events[n:]; len(events) == 0 {
			c.End = threadpdata.EndExit
		}
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "orders")
		ss := rs.ScopeSpans().AppendEmpty()
		threadpdata.MarkCarriers(ss.Scope())
		c.AppendTo(ss.Spans(), sym)
		td.MarkReadOnly()
		all = append(all, td)
	}
	return all
}

// Spans and metrics are the same whether components share an engine or not, and exemplars lead to spans that exist.
func TestSharedEngineGivesTheSameAnswers(t *testing.T) {
	first := func(int) bool { return false }
	var alone, together, mixed result
	run := func(r *result, shared bool, swap func(int) bool) {
		synctest.Test(t, func(t *testing.T) { *r = analyze(t, shared, swap) })
	}
	run(&alone, false, first)
	run(&together, true, first)
	run(&mixed, true, func(batch int) bool { return batch%3 == 1 })
	require.Greater(t, len(alone.spans), 3)
	exemplars := 0
	for _, r := range []result{together, mixed} {
		assert.Equal(t, alone.spans, r.spans)
		require.Len(t, r.metrics, len(alone.metrics))
		for i, md := range r.metrics {
			require.NoError(t, pmetrictest.CompareMetrics(alone.metrics[i], md, pmetrictest.IgnoreMetricsOrder(), pmetrictest.IgnoreMetricDataPointsOrder()))
			exemplars += checkExemplars(t, md, r.ids)
		}
	}
	assert.Greater(t, exemplars, 10)
}

// checkExemplars checks that exemplars refer to spans, and returns their number.
func checkExemplars(t *testing.T, md pmetric.Metrics, spans map[pcommon.SpanID]bool) (n int) {
	t.Helper()
	for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		if m.Type() != pmetric.MetricTypeHistogram {
			continue
		}
		for _, dp := range m.Histogram().DataPoints().All() {
			for _, e := range dp.Exemplars().All() {
				assert.True(t, spans[e.SpanID()], "%s: exemplar of span %s", m.Name(), e.SpanID())
				n++
			}
		}
	}
	return n
}
