// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Microsecond by which a state span ends before its interval does.
const Microsecond = 1000

var stateNames = []string{
	"unknown", "runnable", "blocked", "waiting", "reentering", "joining", "sleeping", "parked", "deadlocked", "suspended", "queued",
}

// CheckNothingLost applies to every run with a collector from start to end.
func CheckNothingLost(t T, o *Output) {
	t.Helper()
	for _, s := range o.Spans {
		if s.IsRoot() {
			assert.Zero(t, s.Number("weft.events.lost"), "%s of %s", s.Name(), s.Service)
			assert.Zero(t, s.Number("weft.events.missed"), "%s of %s", s.Name(), s.Service)
		}
	}
}

// Exception lists permitted deviations of an output.
type Exception int

const (
	// NoException permits nothing.
	NoException Exception = iota
	// LinksMayPointAtAnotherCollector permits links to spans that this collector has not written.
	LinksMayPointAtAnotherCollector
)

// CheckStructure checks what must hold for any output of one collector.
func CheckStructure(t T, o *Output) {
	t.Helper()
	CheckStructureBut(t, o, NoException)
}

// CheckStructureBut is CheckStructure with a permitted deviation.
func CheckStructureBut(t T, o *Output, but Exception) {
	t.Helper()
	require.NotEmpty(t, o.Spans)
	assert.Empty(t, o.Twice, "repeated ids")
	CheckIncidents(t, o, but)
	CheckTraces(t, o, but)
}

// CheckTraces checks that no span of a window is missing: each has its parent, and states tile the life of each thread.
func CheckTraces(t T, o *Output, but Exception) {
	t.Helper()
	children := map[ID][]*Span{}
	for _, s := range o.Spans {
		checkSpan(t, o, s, but)
		if !s.IsRoot() {
			children[s.Parent()] = append(children[s.Parent()], s)
		}
	}
	for _, s := range o.Spans {
		switch {
		case s.IsRoot():
			checkRoot(t, s, children[s.ID()])
		case s.Name() == "critical path":
			checkPath(t, s, o.ByID[s.Parent()].Number("weft.window.start"), children[s.ID()])
		case !s.IsState() && s.Has("thread.id"):
			root := o.ByID[s.Parent()]
			latest := int64(root.EndTimestamp())
			if slices.ContainsFunc(children[root.ID()], func(s *Span) bool { return s.Name() == "critical path" }) {
				latest -= Microsecond // only its lane lasts to the end
			}
			checkThread(t, s, root, children[s.ID()], latest)
		}
	}
}

func checkSpan(t T, o *Output, s *Span, but Exception) {
	t.Helper()
	trace, id := s.TraceID(), s.SpanID()
	assert.NotZero(t, trace[0], "trace id %v begins with a zero byte, which some stores drop", trace)
	assert.NotZero(t, id[0], "span id %v begins with a zero byte, which some stores drop", id)
	assert.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp(), s.Name())
	if !s.IsRoot() {
		parent := o.ByID[s.Parent()]
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
		if kind, ok := l.Attributes().Get("weft.link.kind"); ok && !toApplication(kind.Str()) {
			to := o.ByID[ID{l.TraceID(), l.SpanID()}]
			if to == nil && but == LinksMayPointAtAnotherCollector {
				continue
			}
			if assert.NotNil(t, to, "%s: the %s link points nowhere", s.Name(), kind.Str()) {
				if kind.Str() == "critical_path" { // from a segment to the span that contains it
					assert.Equal(t, s.Text("weft.critical_path.thread.name"), to.Text("thread.name"), s.Name())
					continue
				}
				same := s.Number("thread.id") == to.Number("thread.id")
				assert.Equal(t, kind.Str() == "continues", same, "%s: a %s link from thread %d to %d", s.Name(), kind.Str(),
					s.Number("thread.id"), to.Number("thread.id"))
				assert.Equal(t, s.Session, to.Session)
			}
		}
	}
}

// toApplication reports whether links of a kind lead to spans of the application.
func toApplication(kind string) bool { return strings.HasSuffix(kind, "context") }

// checkTypes checks that durations and counts are integers, since TraceQL never matches a double with an integer literal.
func checkTypes(t T, attrs pcommon.Map) {
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
func checkRoot(t T, s *Span, threads []*Span) {
	t.Helper()
	assert.Zero(t, s.Links().Len(), "a root has no links")
	assert.NotEmpty(t, s.Text("weft.window.cut"))
	early := s.Number("weft.window.start") - s.Begin()
	assert.True(t, early >= 0 && early <= Microsecond*s.Number("weft.window.threads"), "the root begins %d ns early", early)
	starts := map[int64]*Span{}
	for _, thread := range threads {
		if at := thread.Begin() / Microsecond; thread.Begin() <= s.Number("weft.window.start") {
			assert.Nil(t, starts[at], "lanes that start at %d have no order", at)
			starts[at] = thread
		}
	}
	folded := s.Number("weft.folded.threads") > 0
	var total, shown int64 // of all states, and of those of threads with a span
	for _, state := range stateNames {
		for _, attribute := range []string{"weft.count." + state, "weft.time." + state} {
			var sum int64
			for _, thread := range threads {
				sum += thread.Number(attribute)
			}
			if isTime := strings.HasPrefix(attribute, "weft.time."); isTime {
				total, shown = total+s.Number(attribute), shown+sum
				if s.Number("weft.silent.threads") > 0 {
					continue
				}
			}
			if !folded {
				assert.Equal(t, sum, s.Number(attribute), "%s of %s", attribute, s.Name())
			}
		}
	}
	assert.Equal(t, total, shown+s.Number("weft.folded.time")+s.Number("weft.silent.time"), "time of all threads of %s", s.Name())
}

// checkPath checks that the segments of a critical path are contiguous from its start and add up to its length.
func checkPath(t T, lane *Span, start int64, segments []*Span) {
	t.Helper()
	sum, at := lane.Number("weft.folded.time"), start
	slices.SortFunc(segments, func(a, b *Span) int { return cmp.Compare(a.Begin(), b.Begin()) })
	for _, s := range segments {
		if lane.Number("weft.folded.count") == 0 {
			assert.Equal(t, at, s.Begin(), "%s: a gap in the path", s.Name())
		} else {
			assert.LessOrEqual(t, at, s.Begin(), "%s: segments overlap", s.Name())
		}
		at = s.End()
		sum += s.Number("weft.interval.time")
	}
	assert.Equal(t, lane.Number("weft.interval.time"), sum, "segments and folded time add up to the path")
}

// checkThread checks that states are contiguous and add up to the totals of the thread. Its span ends at the latest time or before.
func checkThread(t T, thread, root *Span, states []*Span, latest int64) {
	t.Helper()
	byState, counts := map[string]int64{}, map[string]int64{}
	var sum, total int64
	for i, s := range states {
		require.True(t, s.IsState(), "%s below a thread", s.Name())
		byState[s.Text("weft.state")] += s.Number("weft.interval.time")
		sum += s.Number("weft.interval.time")
		if !s.Has("weft.interval.start") || i > 0 { // else it counted in an earlier window
			counts[s.Text("weft.state")]++
		}
	}
	folded := thread.Number("weft.folded.count")
	for _, state := range stateNames {
		total += thread.Number("weft.time." + state)
		if folded == 0 {
			assert.Equal(t, thread.Number("weft.time."+state), byState[state], "time %s of %s", state, thread.Text("thread.name"))
			assert.Equal(t, thread.Number("weft.count."+state), counts[state], "count %s of %s", state, thread.Text("thread.name"))
		} else {
			assert.LessOrEqual(t, byState[state], thread.Number("weft.time."+state), "time %s of %s", state, thread.Text("thread.name"))
		}
	}
	assert.Equal(t, total, sum+thread.Number("weft.folded.time"), "time of %s", thread.Text("thread.name"))
	checkSiblings(t, thread, root, states, folded > 0, latest)
}

func checkSiblings(t T, thread, root *Span, states []*Span, gaps bool, latest int64) {
	t.Helper()
	sorted := slices.SortedFunc(slices.Values(states), func(a, b *Span) int { return cmp.Compare(a.Begin(), b.Begin()) })
	for i, s := range sorted {
		assert.LessOrEqual(t, int64(s.EndTimestamp()), max(s.Begin(), s.End()-Microsecond)+Microsecond, s.Name())
		if i == 0 {
			continue
		}
		before := sorted[i-1]
		assert.LessOrEqual(t, before.EndTimestamp(), s.StartTimestamp(), "%s overlaps %s on %s", before.Name(), s.Name(), thread.Text("thread.name"))
		if gaps {
			assert.LessOrEqual(t, before.End(), s.Begin(), "%s overlaps %s on %s", before.Name(), s.Name(), thread.Text("thread.name"))
		} else {
			assert.Equal(t, before.End(), s.Begin(), "a gap between %s and %s on %s", before.Name(), s.Name(), thread.Text("thread.name"))
		}
	}
	if !gaps && len(sorted) > 0 {
		// Lanes that last since the window's start begin up to a microsecond a thread before it, so that pages sort them.
		first, start := sorted[0].Begin(), root.Number("weft.window.start")
		early := first - int64(thread.StartTimestamp())
		assert.True(t, early == 0 || first == start && early > 0 && early < Microsecond*root.Number("weft.window.threads"),
			"%s begins with its first state, %d ns early", thread.Text("thread.name"), early)
		last := sorted[len(sorted)-1]
		assert.Equal(t, max(int64(last.EndTimestamp()), min(last.End(), latest)), int64(thread.EndTimestamp()), "%s ends with its last state", thread.Text("thread.name"))
	}
}

// CheckSegment checks that a segment has one link, to the span that contains it. Their order is checked with the structure.
func CheckSegment(t T, o *Output, s *Span) {
	t.Helper()
	require.Equal(t, []string{"critical_path"}, s.LinkKinds(), "%s: %v", s.Name(), s.Attributes().AsRaw())
	l := s.Links().At(0)
	to := o.ByID[ID{Trace: l.TraceID(), Span: l.SpanID()}]
	require.NotNil(t, to, s.Name())
	assert.Equal(t, s.TraceID(), to.TraceID(), s.Name())
	if to.IsState() {
		assert.True(t, to.Begin() <= s.Begin() && s.End() <= to.End(), "%s [%d, %d) is not a piece of %s [%d, %d)",
			s.Name(), s.Begin(), s.End(), to.Name(), to.Begin(), to.End())
	}
}
