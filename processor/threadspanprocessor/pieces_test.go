// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadpdata"
)

// A large window is sent in pieces, of which the first has the root.
func TestLargeWindowsAreSentInPieces(t *testing.T) {
	seconds := make([]int, 2500) // within an hour
	for i := range seconds {
		seconds[i] = i
	}
	p := start(t, func(cfg *Config) { cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.Window = 0, time.Hour }, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, seconds...)))
	p.stop(t)
	p.metric(t, "otelcol_processor_thread_span_windows", 1)
	got := names(p.sink.AllTraces())
	p.metric(t, "otelcol_processor_thread_span_spans", int64(len(got)))
	assert.Greater(t, len(got), 2*maxPiece)
	assert.Equal(t, "threads", got[0])
	all := p.sink.AllTraces()
	require.Len(t, all, (len(got)+maxPiece-1)/maxPiece)
	for _, td := range all {
		assert.LessOrEqual(t, td.SpanCount(), maxPiece)
		service, _ := td.ResourceSpans().At(0).Resource().Attributes().Get("service.name")
		assert.Equal(t, "orders", service.Str())
		assert.Equal(t, all[0].ResourceSpans().At(0).ScopeSpans().At(0).Scope().Name(), td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().Name())
	}
}
