// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Package spanlines writes the spans of the processor: windows, incidents, and those of the requests.
func TestSpanLinesAreTheSpansOfTheProcessor(t *testing.T) {
	for seed := range uint64(6) {
		events, sym := requested(seed)
		want := ofProcessor(t, events, sym)
		for _, part := range []string{"threads: ", "weft.incident.kind", "weft.link.kind:detail"} {
			require.True(t, slices.ContainsFunc(want, func(line string) bool { return strings.Contains(line, part) }), "seed %d: %s", seed, part)
		}
		var out bytes.Buffer
		resource := spanlines.Resource(&recording.Session{ID: one}, "native")
		options := spanlines.DefaultOptions()
		options.Forget = true
		w := spanlines.New(&out, one, resource, sym, options)
		for rest := events; len(rest) > 0; {
			n := min(len(rest), 777)
			require.NoError(t, w.Batch(rest[:n], 0, rest[n-1].Time))
			rest = rest[n:]
		}
		require.NoError(t, w.Close(jvmthread.NoTime, window.CutEnd))
		var got []string
		for line := range bytes.Lines(out.Bytes()) {
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(t, err)
			assert.LessOrEqual(t, td.SpanCount(), maxPiece)
			got = append(got, spanTexts(td)...)
		}
		slices.Sort(got)
		require.Len(t, got, len(want), "seed %d", seed)
		for i := range want {
			require.Equal(t, want[i], got[i], "seed %d", seed)
		}
		assert.Equal(t, len(got), w.Spans())
	}
}

// requested returns the events of a program over half a minute, each thread of which works for requests.
func requested(seed uint64) ([]jvmthread.Event, *symbols.Table) {
	simulated, sym := threadtest.Recorded(seed, 9, 3, 4000)
	first, last := simulated[0].Time, simulated[len(simulated)-1].Time
	stretch := 30 * second / (last - first)
	var events []jvmthread.Event
	for i, ev := range simulated {
		ev.Time = epoch + (ev.Time-first)*stretch
		if i%20 == 0 && ev.Kind != jvmthread.KindThreadStart {
			span := jvmthread.SpanContext{TraceID: [16]byte{1, byte(i >> 8), byte(i)}, SpanID: [8]byte{2, byte(i >> 8), byte(i)}}
			events = append(events, jvmthread.Event{Time: ev.Time, Thread: ev.Thread, Kind: jvmthread.KindContext, Span: span})
		}
		events = append(events, ev)
	}
	return events, sym
}

// ofProcessor returns the spans of the processor, sorted.
func ofProcessor(t *testing.T, events []jvmthread.Event, sym *symbols.Table) (texts []string) {
	t.Helper()
	p := start(t, func(cfg *Config) {
		cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.CriticalPath.Mode = 0, sessions.PathBounded
	}, nil)
	c := threadpdata.Carrier{Session: one}
	for id := range jvmthread.ThreadID(20) {
		if th := sym.Thread(id); th != (jvmthread.Thread{ID: id}) {
			c.Threads = append(c.Threads, th)
		}
	}
	for rest := events; len(rest) > 0; {
		n := min(len(rest), 1000)
		c.Batch++
		c.Events, c.Watermark = slices.Clone(rest[:n]), rest[n-1].Time
		slices.SortStableFunc(c.Events, func(x, y jvmthread.Event) int { return cmp.Compare(x.Thread, y.Thread) })
		if rest = rest[n:]; len(rest) == 0 {
			c.End = threadpdata.EndExit
		}
		td := ptrace.NewTraces()
		ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		threadpdata.MarkCarriers(ss.Scope())
		c.AppendTo(ss.Spans(), sym)
		require.NoError(t, p.ConsumeTraces(t.Context(), td))
		c.Before += uint64(n)
		c.Threads = nil
	}
	p.stop(t)
	for _, td := range p.sink.AllTraces() {
		texts = append(texts, spanTexts(td)...)
	}
	slices.Sort(texts)
	return texts
}

// spanTexts returns a line for each span, with all that it contains, except for what depends on the order in which names and stacks were read:
// the IDs of holds, and which of several call sites with the same share of a path are listed.
func spanTexts(td ptrace.Traces) (lines []string) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				lines = append(lines, spanLine(s))
			}
		}
	}
	return lines
}

func spanLine(s ptrace.Span) string {
	var line strings.Builder
	if !strings.HasPrefix(s.Name(), "held ") {
		fmt.Fprint(&line, s.SpanID())
	}
	fmt.Fprint(&line, s.Name(), s.TraceID(), s.ParentSpanID(), s.StartTimestamp(), s.EndTimestamp(), s.Attributes().AsRaw(), s.Status().Code())
	for _, l := range s.Links().All() {
		fmt.Fprint(&line, " ", l.TraceID(), l.SpanID(), l.Attributes().AsRaw())
	}
	for _, ev := range s.Events().All() {
		if ev.Name() != "weft.critical_path.site" {
			fmt.Fprint(&line, " ", ev.Name(), ev.Timestamp(), ev.Attributes().AsRaw())
		}
	}
	return line.String()
}
