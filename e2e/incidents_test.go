// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// searched is a trace in the result of a search, in the order of the page's "longest first".
type searched struct {
	root  *span
	spans []*span
}

// search finds the traces that have an operation, as the search form does, longest first.
func (j *jaeger) search(t *testing.T, service, operation string) (found []searched) {
	t.Helper()
	var answer v1Answer
	j.get(t, "/api/traces?limit=1500&lookback=1h&service="+url.QueryEscape(service)+"&operation="+url.QueryEscape(operation), &answer)
	o := j.spans(t, service)
	length := func(s searched) int64 { return int64(s.root.EndTimestamp() - s.root.StartTimestamp()) }
	for _, trace := range answer.Data {
		var next searched
		for _, s := range trace.Spans {
			in := o.ByID[idOf(t, s.TraceID, s.SpanID)]
			require.NotNil(t, in)
			next.spans = append(next.spans, in)
			if in.IsRoot() {
				next.root = in
			}
		}
		require.NotNil(t, next.root)
		found = append(found, next)
	}
	slices.SortFunc(found, func(a, b searched) int { return cmp.Compare(length(b), length(a)) })
	return found
}

// TestIncidentsInJaeger checks that a search for a lock, longest first, finds the report that blocks all others.
func TestIncidentsInJaeger(t *testing.T) {
	server := startJaeger(t)
	c := startCollector(t, server.setup())
	c.exchange(t, "three reports blocked others", func(o *output) bool {
		n := 0
		for _, s := range o.Incidents {
			if s.IsRoot() && s.Text("weft.lock.holder.thread.name") == "report" {
				n++
			}
		}
		return n >= 3
	})
	sent := c.finish(t, "exchange")
	got := server.takes(t, sent, "exchange")
	spantest.CheckStructure(t, got)
	checkSame(t, sent, got)
	found := server.search(t, "exchange", "contention OrderBook")
	require.NotEmpty(t, found)
	for _, trace := range found {
		assert.True(t, trace.root.OfIncident(), trace.root.Name())
		assert.LessOrEqual(t, len(trace.spans), spantest.MaxIncidentSpans)
	}
	// Where CPUs are short, others may hold the lock for longer than the report.
	at := slices.IndexFunc(found, func(s searched) bool { return s.root.Text("weft.lock.holder.thread.name") == "report" })
	require.GreaterOrEqual(t, at, 0, "of %d, one is held by the report", len(found))
	first := found[at]
	t.Logf("of %d: %s, %d spans", len(found), first.root.Text("weft.explanation"), len(first.spans))
	assert.Regexp(t, `^report held OrderBook for .*, asleep in .*; .* waited .* for it`, first.root.Text("weft.explanation"))
	assert.True(t, slices.ContainsFunc(first.spans, func(s *span) bool {
		return s.Name() == "held OrderBook: sleeping" && s.Text("thread.name") == "report"
	}))
	assert.True(t, slices.ContainsFunc(first.spans, func(s *span) bool { return s.Name() == "blocked OrderBook" }))
	for _, trace := range server.traces(t, "exchange").Data {
		if got.ByID[idOf(t, trace.Spans[0].TraceID, trace.Spans[0].SpanID)].OfIncident() {
			checkLineOfIncident(t, trace.Spans)
		}
	}
}

// checkLineOfIncident checks that the critical path of Jaeger's page goes through a wait or a hold.
func checkLineOfIncident(t *testing.T, spans []v1Span) {
	t.Helper()
	roots, _ := lines(t, spans)
	require.Len(t, roots, 1)
	assert.NotEmpty(t, roots[0].visit(map[*line]bool{}), roots[0].OperationName)
}
