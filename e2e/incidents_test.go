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
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxIncidentSpans is the limit that the processor's README states.
const maxIncidentSpans = 50

// checkIncidents checks the traces of incidents, and that their times add up to the contended time of the windows.
func checkIncidents(t *testing.T, o *output, but exception) {
	t.Helper()
	perTrace, roots := map[pcommon.TraceID]int{}, map[pcommon.TraceID]*span{}
	reported := map[string]int64{}
	for _, s := range o.incidents {
		perTrace[s.TraceID()]++
		if s.isRoot() {
			roots[s.TraceID()] = s
			reported[s.session] += s.number("weft.incident.blocked.time")
			assert.Zero(t, s.Links().Len(), "a root has no links")
		}
	}
	for _, s := range o.incidents {
		checkIncidentSpan(t, o, s, roots[s.TraceID()], but)
	}
	for trace, n := range perTrace {
		assert.LessOrEqual(t, n, maxIncidentSpans, "trace %v", trace)
	}
	if but == noException {
		checkIncidentSums(t, o, reported)
	}
}

func checkIncidentSpan(t *testing.T, o *output, s, root *span, but exception) {
	t.Helper()
	if !assert.NotNil(t, root, "%s has a root", s.Name()) {
		return
	}
	assert.True(t, root.StartTimestamp() <= s.StartTimestamp() && s.StartTimestamp() <= s.EndTimestamp() && s.EndTimestamp() <= root.EndTimestamp(),
		"%s [%d, %d] is outside of %s [%d, %d]", s.Name(), s.begin(), s.EndTimestamp(), root.Name(), root.begin(), root.EndTimestamp())
	assert.False(t, s.isState(), "%s would count twice", s.Name())
	assert.NotZero(t, s.SpanID()[0])
	checkTypes(t, s.Attributes())
	for _, l := range s.Links().All() {
		to := o.byID[spanID{l.TraceID(), l.SpanID()}]
		switch kind := (link{SpanLink: l}).kind(); {
		case kind == "context":
		case to == nil:
			assert.Equal(t, linksMayPointAtAnotherCollector, but, "%s: the %s link points nowhere", s.Name(), kind)
		case kind == "detail":
			assert.Equal(t, s.number("thread.id"), to.number("thread.id"), "%s: detail", s.Name())
			assert.False(t, to.ofIncident(), s.Name())
		default:
			assert.Equal(t, s.TraceID(), to.TraceID(), "%s: %s", s.Name(), kind)
		}
	}
}

// checkIncidentSums checks for each session that each blocked nanosecond is in one incident, in the counted rest, or in an incident that is still
// open.
func checkIncidentSums(t *testing.T, o *output, reported map[string]int64) {
	t.Helper()
	type sums struct{ contended, reported, folded, open, until int64 }
	of := map[string]*sums{}
	for _, s := range o.spans {
		if !s.has("weft.window.cut") {
			continue
		}
		if of[s.session] == nil {
			of[s.session] = &sums{}
		}
		sum := of[s.session]
		sum.contended += s.number("weft.contended.time") + s.number("weft.starved.time")
		sum.reported += s.number("weft.incident.time")
		sum.folded += s.number("weft.incident.folded.time")
		if end := int64(s.EndTimestamp()); end >= sum.until {
			sum.until, sum.open = end, s.number("weft.incident.open.time")
		}
	}
	for session, sum := range of {
		assert.Equal(t, sum.contended, sum.reported+sum.folded+sum.open, "session %s: %+v", session, *sum)
		assert.Equal(t, sum.reported, reported[session], "session %s", session)
	}
}

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
			in := o.byID[idOf(t, s.TraceID, s.SpanID)]
			require.NotNil(t, in)
			next.spans = append(next.spans, in)
			if in.isRoot() {
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
		for _, s := range o.incidents {
			if s.isRoot() && s.text("weft.lock.holder.thread.name") == "report" {
				n++
			}
		}
		return n >= 3
	})
	sent := c.finish(t, "exchange")
	got := server.takes(t, sent, "exchange")
	checkStructure(t, got)
	checkSame(t, sent, got)
	found := server.search(t, "exchange", "contention OrderBook")
	require.NotEmpty(t, found)
	for _, trace := range found {
		assert.True(t, trace.root.ofIncident(), trace.root.Name())
		assert.LessOrEqual(t, len(trace.spans), maxIncidentSpans)
	}
	// Where CPUs are short, threads that hold the lock, one or several in turn, may wait for one longer than the report sleeps.
	all := len(found)
	found = slices.DeleteFunc(found, func(s searched) bool {
		return s.root.text("weft.lock.holder.thread.name") == "" || s.root.text("weft.lock.holder.state") == "runnable"
	})
	require.GreaterOrEqual(t, len(found), 3, "of %d", all)
	first := found[0]
	t.Logf("of %d, %d by threads that ran: %s, %d spans", all, all-len(found), first.root.text("weft.explanation"), len(first.spans))
	assert.Equal(t, "report", first.root.text("weft.lock.holder.thread.name"))
	assert.Regexp(t, `^report held OrderBook for .*, asleep in .*; .* waited .* for it`, first.root.text("weft.explanation"))
	assert.True(t, slices.ContainsFunc(first.spans, func(s *span) bool {
		return s.Name() == "held OrderBook: sleeping" && s.text("thread.name") == "report"
	}))
	assert.True(t, slices.ContainsFunc(first.spans, func(s *span) bool { return s.Name() == "blocked OrderBook" }))
	for _, trace := range server.traces(t, "exchange").Data {
		if got.byID[idOf(t, trace.Spans[0].TraceID, trace.Spans[0].SpanID)].ofIncident() {
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

// TestDeadlockIsAnIncident checks that a search for deadlocks finds one, as an error, while it lasts.
func TestDeadlockIsAnIncident(t *testing.T) {
	server := startJaeger(t)
	c := startCollector(t, server.setup())
	jvm := java(t, jdks[len(jdks)-1], c.endpoint, "stuck", "Deadlock")
	var truth struct {
		Deadlocked []int64 `json:"deadlocked"`
	}
	poll(t, "the threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
	jvm.truth(t, &truth)
	var found []searched
	poll(t, "Jaeger finds it", func() bool {
		found = server.search(t, "stuck", "deadlock")
		return len(found) > 0
	})
	require.Len(t, found, 1)
	root := found[0].root
	assert.Equal(t, ptrace.StatusCodeError, root.Status().Code())
	assert.Equal(t, "deadlock", root.text("error.type"))
	assert.Contains(t, root.text("weft.explanation"), "deadlock: ")
	var threads []int64
	for _, s := range found[0].spans {
		if s.text("weft.incident.role") == "waiter" {
			threads = append(threads, s.number("thread.id"))
		}
	}
	assert.ElementsMatch(t, truth.Deadlocked, threads)
}
