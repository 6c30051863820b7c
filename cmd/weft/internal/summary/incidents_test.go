// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/ordering"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The traces of incidents repeat what those of windows say: a summary with them is the same.
func TestIncidentsCountOnce(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.ReportAndMatchers(sym)
	e := drive.New(engine.DefaultConfig(), sym)
	emitter, finder := threadpdata.NewEmitter(jvmthread.SessionID{1}, sym, e.Waits()), incident.NewFinder(incident.Options{MaxPerWindow: 20})
	var summaries []Summary
	added := 0
	e.Add(ordering.Part{Batch: 1, Parts: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	e.Close(jvmthread.NoTime, windows.CutEnd, func(w *windows.Window) {
		path := threadpdata.Prepare(w, windows.NewFinder(), 0)
		td := ptrace.NewTraces()
		spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		emitter.Append(w, path, spans)
		found := finder.Find(w)
		for _, list := range []*incident.Found{{}, found} {
			before := spans.Len()
			emitter.AppendIncidents(list, spans.At(0), spans)
			added = spans.Len() - before
			c := newCollection()
			c.add(td)
			summaries = append(summaries, c.summary())
		}
	})
	require.Len(t, summaries, 2)
	assert.Greater(t, added, 50)
	assert.Positive(t, summaries[0].Locks[0].Blocked)
	assert.Equal(t, summaries[0], summaries[1])
}

// So do the spans in the traces of requests.
func TestRequestsCountOnce(t *testing.T) {
	lines := [2]string{}
	lines[0] = window(t, 1, attributes{"weft.window.cut": "end", "weft.contended.time": int64(5)}, nil, nil)
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for _, attrs := range []attributes{
		{"weft.state": "blocked", "weft.wait.kind": "lock", "weft.wait.time": int64(5), "thread.id": int64(1), "thread.name": "http-1"},
		{"weft.lock.held.time": int64(5), "weft.lock.blocked.time": int64(5), "thread.id": int64(2), "thread.name": "report"},
		{"weft.request.time": int64(9), "thread.id": int64(1), "thread.name": "http-1"},
	} {
		require.NoError(t, spans.AppendEmpty().Attributes().FromRaw(attrs))
	}
	marshaler := ptrace.JSONMarshaler{}
	more, err := marshaler.MarshalTraces(td)
	require.NoError(t, err)
	lines[1] = lines[0] + string(more) + "\n"
	var summaries [2]Summary
	for i, text := range lines {
		summaries[i], err = Read(replay.Source{Name: "spans", Reader: strings.NewReader(text)})
		require.NoError(t, err)
	}
	assert.Equal(t, summaries[0], summaries[1])
}
