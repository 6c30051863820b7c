// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/incident"
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
	e := engine.New(engine.DefaultConfig(), sym)
	emitter, finder := threadpdata.NewEmitter(jvmthread.SessionID{1}, sym, e.Waits()), incident.NewFinder(incident.Options{MaxPerWindow: 20})
	var summaries []Summary
	added := 0
	e.AddBatch(1, 0, events[len(events)-1].Time+1, events)
	e.Close(windows.CutEnd, func(w *windows.Window) {
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
