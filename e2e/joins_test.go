// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestJoinsAtTheEndOfWindows checks that a critical path is known to its end where a window ends within a join, although the joined thread
// may have ended, or have started too late for this window.
func TestJoinsAtTheEndOfWindows(t *testing.T) {
	c := startCollector(t, setup{engine: []string{"max_spans_per_window: 0", "window: 10ms"}})
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "joins", "Joins", "10").wait(t))
	o := c.finish(t, "joins")
	spantest.CheckStructure(t, o)
	segments := 0
	for _, s := range o.Spans {
		if kind := s.Text("weft.critical_path.kind"); kind != "" {
			segments++
			assert.NotEqual(t, "unknown", kind, s.Text("weft.explanation"))
			checkSegment(t, o, s)
		}
	}
	assert.Positive(t, segments)
}
