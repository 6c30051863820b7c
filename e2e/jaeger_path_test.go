// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/corpus/spantest"
)

// TestWindowInJaeger compares Jaeger's traces with the processor's output, and searches for a lock. What Jaeger's page shows of such traces is
// checked in package corpus.
func TestWindowInJaeger(t *testing.T) {
	server := startJaeger(t)
	c := startCollector(t, server.setup())
	c.exchange(t, "a lock is handed over in each of three windows", func(o *output) bool {
		traces := map[pcommon.TraceID]bool{}
		for _, l := range o.Links("exchange", "handoff") {
			traces[l.From.TraceID()] = true
		}
		return len(traces) >= 3
	})
	sent := c.finish(t, "exchange")
	got := server.takes(t, sent, "exchange")
	checkSame(t, sent, got)
	spantest.CheckStructure(t, got)
	checkReferences(t, server, got, []string{"exchange"})
	found := server.search(t, "exchange", "contention OrderBook")
	require.NotEmpty(t, found)
	for _, trace := range found {
		assert.True(t, trace.root.OfIncident(), trace.root.Name())
		assert.LessOrEqual(t, len(trace.spans), spantest.MaxIncidentSpans)
	}
}

// checkSame compares all sent spans with the stored ones.
func checkSame(t *testing.T, sent, got *output) {
	t.Helper()
	require.NotEmpty(t, sent.Spans)
	assert.Len(t, got.ByID, len(sent.ByID))
	for _, s := range sent.ByID {
		other := got.ByID[s.ID()]
		if !assert.NotNil(t, other, "%s at %d is missing in Jaeger", s.Name(), s.Begin()) {
			continue
		}
		assert.Equal(t, s.Name(), other.Name())
		assert.Equal(t, s.ParentSpanID(), other.ParentSpanID(), s.Name())
		assert.Equal(t, s.StartTimestamp(), other.StartTimestamp(), s.Name())
		assert.Equal(t, s.EndTimestamp(), other.EndTimestamp(), s.Name())
		assert.Equal(t, s.Attributes().AsRaw(), other.Attributes().AsRaw(), s.Name())
		assert.Equal(t, s.Events().Len(), other.Events().Len(), s.Name())
		if assert.Equal(t, s.Links().Len(), other.Links().Len(), s.Name()) {
			for i, l := range s.Links().All() {
				o := other.Links().At(i)
				assert.Equal(t, spanID{Trace: l.TraceID(), Span: l.SpanID()}, spanID{Trace: o.TraceID(), Span: o.SpanID()}, s.Name())
				assert.Equal(t, l.Attributes().AsRaw(), o.Attributes().AsRaw(), s.Name())
			}
		}
	}
}
