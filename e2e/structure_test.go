// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestStructureWithoutBudget runs the exchange without a span budget: states tile the life of each thread.
func TestStructureWithoutBudget(t *testing.T) {
	c := startCollector(t, setup{engine: []string{"max_spans_per_window: 0"}})
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3").wait(t))
	o := c.finish(t, "exchange")
	for _, s := range o.Spans {
		assert.Zero(t, s.Number("weft.folded.count"), "%s", s.Name())
	}
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}

// TestStructureWithBudget runs the exchange with fewer spans than states.
func TestStructureWithBudget(t *testing.T) {
	const budget = 100
	c := startCollector(t, setup{engine: []string{"max_spans_per_window: 100"}})
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3").wait(t))
	o := c.finish(t, "exchange")
	perTrace := map[pcommon.TraceID]int{}
	var folded int64
	for _, s := range o.Spans {
		perTrace[s.TraceID()]++
		folded += s.Number("weft.folded.count")
	}
	assert.Positive(t, folded)
	for id, spans := range perTrace {
		assert.LessOrEqual(t, spans, budget, "trace %v", id)
	}
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}
