// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// spansText shows each span in a line, below its parent: name, start..end in nanoseconds, some attributes, its events and links. The targets
// of links are found by their names, which are kept for the next call.
func spansText(all []ptrace.Traces, names map[pcommon.SpanID]string) string {
	var b strings.Builder
	for _, td := range all {
		eachSpan(td, func(_ string, s ptrace.Span) {
			names[s.SpanID()] = fmt.Sprintf("%s@%d", s.Name(), s.StartTimestamp())
			if thread, ok := s.Attributes().Get("thread.name"); ok {
				names[s.SpanID()] = thread.Str() + "/" + names[s.SpanID()]
			}
		})
	}
	depth := make(map[pcommon.SpanID]int)
	for _, td := range all {
		eachSpan(td, func(service string, s ptrace.Span) {
			switch d, ok := depth[s.ParentSpanID()]; {
			case s.ParentSpanID().IsEmpty():
				b.WriteString(service)
				depth[s.SpanID()] = 0
			case ok:
				depth[s.SpanID()] = d + 1
			default: // a span of the application
				b.WriteString(service + names[s.ParentSpanID()] + ": ")
			}
			b.WriteString(strings.Repeat("  ", depth[s.SpanID()]))
			writeSpan(&b, s)
			for _, l := range s.Links().All() {
				kind, _ := l.Attributes().Get("weft.link.kind")
				fmt.Fprintf(&b, " <- %s %s", kind.Str(), names[l.SpanID()])
			}
			b.WriteByte('\n')
		})
	}
	return b.String()
}

func eachSpan(td ptrace.Traces, do func(service string, s ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		service := ""
		if v, ok := rs.Resource().Attributes().Get("service.name"); ok {
			service = v.Str() + ": "
		}
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				do(service, s)
			}
		}
	}
}

func writeSpan(b *strings.Builder, s ptrace.Span) {
	end := int64(s.EndTimestamp())
	if exact, ok := s.Attributes().Get("weft.interval.time"); ok {
		end = int64(s.StartTimestamp()) + exact.Int()
	}
	name := s.Name()
	if thread, ok := s.Attributes().Get("thread.name"); ok && name == "thread" {
		name += " " + thread.Str()
	}
	fmt.Fprintf(b, "%s %d..%d", name, s.StartTimestamp(), end)
	for _, key := range []string{
		"weft.window.cut", "weft.events.lost", "weft.events.missed", "weft.folded.count", "weft.folded.threads", "weft.history.missing",
		"weft.interval.open", "weft.wait.cause", "weft.incident.count", "weft.incident.folded.count", "weft.incident.open.count", "weft.incident.open",
	} {
		if v, ok := s.Attributes().Get(key); ok && v.AsString() != "0" {
			fmt.Fprintf(b, " %s=%s", strings.TrimPrefix(key, "weft."), v.AsString())
		}
	}
	for _, ev := range s.Events().All() {
		if cycle, ok := ev.Attributes().Get("weft.deadlock.threads"); ok {
			fmt.Fprintf(b, " deadlock %s since %d", cycle.Str(), ev.Timestamp())
		}
		if !strings.HasPrefix(ev.Name(), "weft.") && ev.Name() != "timeout" { // a call
			fmt.Fprintf(b, " %s@%d", ev.Name(), ev.Timestamp())
			for _, key := range []string{"weft.call.thread.name", "weft.lock.class"} {
				if v, ok := ev.Attributes().Get(key); ok {
					fmt.Fprintf(b, " of %s", v.Str())
				}
			}
		}
	}
}

// telemetryText shows the internal metrics that are not zero, except the estimate of memory.
func telemetryText(t *testing.T, p *pipeline) string {
	t.Helper()
	var rm metricdata.ResourceMetrics
	require.NoError(t, p.tel.Reader.Collect(t.Context(), &rm))
	var lines []string
	for _, sm := range rm.ScopeMetrics {
		for _, m := range sm.Metrics {
			name := strings.TrimPrefix(m.Name, "otelcol_processor_thread_span_")
			if name == "held" {
				continue
			}
			for _, dp := range m.Data.(metricdata.Sum[int64]).DataPoints {
				if dp.Value == 0 {
					continue
				}
				line := []string{name}
				for _, a := range dp.Attributes.ToSlice() {
					line = append(line, fmt.Sprintf("%s=%s", a.Key, a.Value.AsString()))
				}
				lines = append(lines, fmt.Sprintf("%s %d\n", strings.Join(line, " "), dp.Value))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
