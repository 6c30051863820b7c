// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// microsecond by which a state span ends before its interval does.
const microsecond = 1000

var stateNames = []string{
	"unknown", "runnable", "blocked", "waiting", "reentering", "joining", "sleeping", "parked", "deadlocked", "suspended", "queued",
}

// TestStructureWithoutBudget runs the exchange without a span budget: states tile the life of each thread.
func TestStructureWithoutBudget(t *testing.T) {
	c := startCollector(t, setup{engine: []string{"max_spans_per_window: 0"}})
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3").wait(t))
	o := c.finish(t, "exchange")
	for _, s := range o.spans {
		assert.Zero(t, s.number("weft.folded.count"), "%s", s.Name())
	}
	checkStructure(t, o)
	checkNothingLost(t, o)
}

// TestStructureWithBudget runs the exchange with fewer spans than states.
func TestStructureWithBudget(t *testing.T) {
	const budget = 100
	c := startCollector(t, setup{engine: []string{"max_spans_per_window: 100"}})
	require.Equal(t, 0, java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3").wait(t))
	o := c.finish(t, "exchange")
	perTrace := map[pcommon.TraceID]int{}
	var folded int64
	for _, s := range o.spans {
		perTrace[s.TraceID()]++
		folded += s.number("weft.folded.count")
	}
	assert.Positive(t, folded)
	for id, spans := range perTrace {
		assert.LessOrEqual(t, spans, budget, "trace %v", id)
	}
	checkStructure(t, o)
	checkNothingLost(t, o)
}

// checkNothingLost applies to every run with a collector from start to end.
func checkNothingLost(t *testing.T, o *output) {
	t.Helper()
	for _, s := range o.spans {
		if s.isRoot() {
			assert.Zero(t, s.number("weft.events.lost"), "%s of %s", s.Name(), s.service)
			assert.Zero(t, s.number("weft.events.missed"), "%s of %s", s.Name(), s.service)
		}
	}
}

// exception lists permitted deviations of an output.
type exception int

const (
	noException exception = iota
	linksMayPointAtAnotherCollector
)

// checkStructure checks what must hold for any output of one collector.
func checkStructure(t *testing.T, o *output) {
	t.Helper()
	checkStructureBut(t, o, noException)
}

func checkStructureBut(t *testing.T, o *output, but exception) {
	t.Helper()
	require.NotEmpty(t, o.spans)
	assert.Empty(t, o.twice, "repeated ids")
	checkIncidents(t, o, but)
	checkTraces(t, o, but)
}

// checkTraces checks that no span of a window is missing: each has its parent, and states tile the life of each thread.
func checkTraces(t *testing.T, o *output, but exception) {
	t.Helper()
	children := map[spanID][]*span{}
	for _, s := range o.spans {
		checkSpan(t, o, s, but)
		if !s.isRoot() {
			children[s.parent()] = append(children[s.parent()], s)
		}
	}
	for _, s := range o.spans {
		switch {
		case s.isRoot():
			checkRoot(t, s, children[s.id()])
		case s.Name() == "critical path":
			checkPath(t, s, o.byID[s.parent()].number("weft.window.start"), children[s.id()])
		case !s.isState() && s.has("thread.id"):
			root := o.byID[s.parent()]
			latest := int64(root.EndTimestamp())
			if slices.ContainsFunc(children[root.id()], func(s *span) bool { return s.Name() == "critical path" }) {
				latest -= microsecond // only its lane lasts to the end
			}
			checkThread(t, s, root, children[s.id()], latest)
		}
	}
}

func checkSpan(t *testing.T, o *output, s *span, but exception) {
	t.Helper()
	trace, id := s.TraceID(), s.SpanID()
	assert.NotZero(t, trace[0], "trace id %v begins with a zero byte, which some stores drop", trace)
	assert.NotZero(t, id[0], "span id %v begins with a zero byte, which some stores drop", id)
	assert.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp(), s.Name())
	if !s.isRoot() {
		parent := o.byID[s.parent()]
		require.NotNil(t, parent, "%s has a parent", s.Name())
		assert.True(t, parent.StartTimestamp() <= s.StartTimestamp() && s.EndTimestamp() <= parent.EndTimestamp(),
			"%s [%d, %d] is outside of %s [%d, %d]", s.Name(), s.StartTimestamp(), s.EndTimestamp(),
			parent.Name(), parent.StartTimestamp(), parent.EndTimestamp())
	}
	checkTypes(t, s.Attributes())
	for _, event := range s.Events().All() {
		checkTypes(t, event.Attributes())
	}
	for _, l := range s.Links().All() {
		checkTypes(t, l.Attributes())
		if kind, ok := l.Attributes().Get("weft.link.kind"); ok {
			to := o.byID[spanID{l.TraceID(), l.SpanID()}]
			if to == nil && but == linksMayPointAtAnotherCollector {
				continue
			}
			if assert.NotNil(t, to, "%s: the %s link points nowhere", s.Name(), kind.Str()) {
				if kind.Str() == "critical_path" { // from a segment to the span that contains it
					assert.Equal(t, s.text("weft.critical_path.thread.name"), to.text("thread.name"), s.Name())
					continue
				}
				same := s.number("thread.id") == to.number("thread.id")
				assert.Equal(t, kind.Str() == "continues", same, "%s: a %s link from thread %d to %d", s.Name(), kind.Str(),
					s.number("thread.id"), to.number("thread.id"))
				assert.Equal(t, s.session, to.session)
			}
		}
	}
}

// checkTypes checks that durations and counts are integers, since TraceQL never matches a double with an integer literal.
func checkTypes(t *testing.T, attrs pcommon.Map) {
	t.Helper()
	for name, value := range attrs.All() {
		for _, ending := range []string{".time", ".max", ".latency", ".timeout", ".length", ".contentions", ".handoffs", ".waits", "thread.id"} {
			if strings.HasSuffix(name, ending) {
				assert.Equal(t, pcommon.ValueTypeInt, value.Type(), name)
			}
		}
		for _, start := range []string{"weft.time.", "weft.count.", "weft.events."} {
			if strings.HasPrefix(name, start) {
				assert.Equal(t, pcommon.ValueTypeInt, value.Type(), name)
			}
		}
	}
}

// checkRoot checks that a root has no links, and the totals of its threads.
func checkRoot(t *testing.T, s *span, threads []*span) {
	t.Helper()
	assert.Zero(t, s.Links().Len(), "a root has no links")
	assert.NotEmpty(t, s.text("weft.window.cut"))
	early := s.number("weft.window.start") - s.begin()
	assert.True(t, early >= 0 && early <= microsecond*s.number("weft.window.threads"), "the root begins %d ns early", early)
	starts := map[int64]*span{}
	for _, thread := range threads {
		if at := thread.begin() / microsecond; thread.begin() <= s.number("weft.window.start") {
			assert.Nil(t, starts[at], "lanes that start at %d have no order", at)
			starts[at] = thread
		}
	}
	if s.number("weft.folded.threads") > 0 {
		return
	}
	for _, state := range stateNames {
		for _, attribute := range []string{"weft.count." + state, "weft.time." + state} {
			var sum int64
			for _, thread := range threads {
				sum += thread.number(attribute)
			}
			assert.Equal(t, sum, s.number(attribute), "%s of %s", attribute, s.Name())
		}
	}
}

// checkPath checks that the segments of a critical path are contiguous from its start and add up to its length.
func checkPath(t *testing.T, lane *span, start int64, segments []*span) {
	t.Helper()
	sum, at := lane.number("weft.folded.time"), start
	slices.SortFunc(segments, func(a, b *span) int { return cmp.Compare(a.begin(), b.begin()) })
	for _, s := range segments {
		if lane.number("weft.folded.count") == 0 {
			assert.Equal(t, at, s.begin(), "%s: a gap in the path", s.Name())
		} else {
			assert.LessOrEqual(t, at, s.begin(), "%s: segments overlap", s.Name())
		}
		at = s.end()
		sum += s.number("weft.interval.time")
	}
	assert.Equal(t, lane.number("weft.interval.time"), sum, "segments and folded time add up to the path")
}

// checkThread checks that states are contiguous and add up to the totals of the thread. Its span ends at the latest time or before.
func checkThread(t *testing.T, thread, root *span, states []*span, latest int64) {
	t.Helper()
	byState, counts := map[string]int64{}, map[string]int64{}
	var sum, total int64
	for _, s := range states {
		require.True(t, s.isState(), "%s below a thread", s.Name())
		byState[s.text("weft.state")] += s.number("weft.interval.time")
		sum += s.number("weft.interval.time")
		if !s.has("weft.interval.start") {
			counts[s.text("weft.state")]++
		}
	}
	folded := thread.number("weft.folded.count")
	for _, state := range stateNames {
		total += thread.number("weft.time." + state)
		if folded == 0 {
			assert.Equal(t, thread.number("weft.time."+state), byState[state], "time %s of %s", state, thread.text("thread.name"))
			assert.Equal(t, thread.number("weft.count."+state), counts[state], "count %s of %s", state, thread.text("thread.name"))
		} else {
			assert.LessOrEqual(t, byState[state], thread.number("weft.time."+state), "time %s of %s", state, thread.text("thread.name"))
		}
	}
	assert.Equal(t, total, sum+thread.number("weft.folded.time"), "time of %s", thread.text("thread.name"))
	checkSiblings(t, thread, root, states, folded > 0, latest)
}

func checkSiblings(t *testing.T, thread, root *span, states []*span, gaps bool, latest int64) {
	t.Helper()
	sorted := slices.SortedFunc(slices.Values(states), func(a, b *span) int { return cmp.Compare(a.begin(), b.begin()) })
	for i, s := range sorted {
		assert.LessOrEqual(t, int64(s.EndTimestamp()), max(s.begin(), s.end()-microsecond)+microsecond, s.Name())
		if i == 0 {
			continue
		}
		before := sorted[i-1]
		assert.LessOrEqual(t, before.EndTimestamp(), s.StartTimestamp(), "%s overlaps %s on %s", before.Name(), s.Name(), thread.text("thread.name"))
		if gaps {
			assert.LessOrEqual(t, before.end(), s.begin(), "%s overlaps %s on %s", before.Name(), s.Name(), thread.text("thread.name"))
		} else {
			assert.Equal(t, before.end(), s.begin(), "a gap between %s and %s on %s", before.Name(), s.Name(), thread.text("thread.name"))
		}
	}
	if !gaps && len(sorted) > 0 {
		// Lanes that last since the window's start begin up to a microsecond a thread before it, so that pages sort them.
		first, start := sorted[0].begin(), root.number("weft.window.start")
		early := first - int64(thread.StartTimestamp())
		assert.True(t, early == 0 || first == start && early > 0 && early < microsecond*root.number("weft.window.threads"),
			"%s begins with its first state, %d ns early", thread.text("thread.name"), early)
		last := sorted[len(sorted)-1]
		assert.Equal(t, max(int64(last.EndTimestamp()), min(last.end(), latest)), int64(thread.EndTimestamp()), "%s ends with its last state", thread.text("thread.name"))
	}
}
