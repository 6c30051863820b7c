// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
)

// A panic in what one session sends ends that session. The spans of another one are the same, byte by byte, as without it.
func TestFailedSessionHarmsNoOther(t *testing.T) {
	failure.ContainIn(t)
	run := func(defect bool) (spans []string, p *pipeline) {
		sink, bad := new(consumertest.TracesSink), 0
		next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
			if service(td) == "bad" {
				if bad++; bad == 2 && defect {
					panic("defect")
				}
				return nil
			}
			return sink.ConsumeTraces(ctx, td)
		})
		require.NoError(t, err)
		p = start(t, nil, next)
		for number := range uint64(8) {
			end := ""
			if number == 7 {
				end = threadpdata.EndExit
			}
			require.NoError(t, p.ConsumeTraces(t.Context(), batch(jvmthread.SessionID{1}, number+1, end, int(10*number))))
			td := batch(jvmthread.SessionID{2}, number+1, end, int(10*number))
			td.ResourceSpans().At(0).Resource().Attributes().PutStr("service.name", "bad")
			require.NoError(t, p.ConsumeTraces(t.Context(), td), "what is refused is acknowledged")
		}
		p.stop(t)
		var marshaler ptrace.JSONMarshaler
		for _, td := range sink.AllTraces() {
			text, err := marshaler.MarshalTraces(td)
			require.NoError(t, err)
			spans = append(spans, string(text))
		}
		return spans, p
	}
	want, _ := run(false)
	require.NotEmpty(t, want)
	got, p := run(true)
	assert.Equal(t, want, got)
	p.metric(t, "otelcol_processor_thread_span_sessions_failed", 1)
	p.metric(t, "otelcol_processor_thread_span_sessions", 0)
	p.metric(t, "otelcol_processor_thread_span_held", 0)
	p.metric(t, "otelcol_processor_thread_span_anomalies", 5, "kind", "after_failure")
}

func service(td ptrace.Traces) string {
	name, _ := td.ResourceSpans().At(0).Resource().Attributes().Get("service.name")
	return name.AsString()
}

// A session that fails within a window drops the pieces of that window, and keeps those of the windows before.
func TestPiecesOfAnIncompleteWindowAreDropped(t *testing.T) {
	p := start(t, nil, nil)
	telemetry, err := metadata.NewTelemetryBuilder(p.tel.NewTelemetrySettings())
	require.NoError(t, err)
	s := &session{Session: new(sessions.Session), proc: &threadSpan{telemetry: telemetry}}
	of := new(outcome)
	whole := []piece{{of: of}, {of: of, last: true}, {of: of, last: true}}
	s.windows = append(append([]piece{}, whole...), piece{of: of, spans: 2}, piece{of: of, spans: 3})
	s.Closed(window.CutFailed)
	assert.Equal(t, whole, s.windows)
	p.metric(t, "otelcol_processor_thread_span_spans_refused", 5)
	p.stop(t)
}
