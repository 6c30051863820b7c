// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestWindowInJaeger compares Jaeger's traces with the processor's output, and computes the critical path as Jaeger's page does.
func TestWindowInJaeger(t *testing.T) {
	server := startJaeger(t)
	c := startCollector(t, server.setup())
	c.exchange(t, "a lock is handed over in each of three windows", func(o *output) bool {
		traces := map[pcommon.TraceID]bool{}
		for _, l := range o.Links("exchange", "handoff") {
			traces[l.From.TraceID()] = true
		}
		return len(traces) >= 3
	})
	sent := c.finish(t, "exchange")
	got := server.takes(t, sent, "exchange")
	checkSame(t, sent, got)
	spantest.CheckStructure(t, got)
	checkReferences(t, server, got, []string{"exchange"})

	blocked, lanes := 0, map[spanID]int{}
	for _, s := range got.Of("exchange", func(s *span) bool { return !s.IsRoot() }) {
		switch {
		case s.Name() == "critical path":
			lanes[s.Parent()]++
		case s.Text("weft.critical_path.kind") != "":
			spantest.CheckSegment(t, got, s)
		case s.Text("weft.state") == "blocked" && s.Text("weft.wait.cause") == "handoff":
			blocked++
			assert.Contains(t, s.LinkKinds(), "handoff", "%s at %d", s.Name(), s.Begin())
		}
	}
	assert.Positive(t, blocked)
	for _, root := range got.Roots("exchange") {
		if root.Number("weft.time.blocked") > 0 {
			assert.Equal(t, 1, lanes[root.ID()], "a lane in each window with a blocked thread")
		}
	}

	for _, trace := range server.traces(t, "exchange").Data {
		if !got.ByID[idOf(t, trace.Spans[0].TraceID, trace.Spans[0].SpanID)].OfIncident() {
			checkJaegersLine(t, got, trace.Spans)
		}
	}
}

// checkSame compares all sent spans with the stored ones.
func checkSame(t *testing.T, sent, got *output) {
	t.Helper()
	require.NotEmpty(t, sent.Spans)
	assert.Len(t, got.ByID, len(sent.ByID))
	for _, s := range sent.ByID {
		other := got.ByID[s.ID()]
		if !assert.NotNil(t, other, "%s at %d is missing in Jaeger", s.Name(), s.Begin()) {
			continue
		}
		assert.Equal(t, s.Name(), other.Name())
		assert.Equal(t, s.ParentSpanID(), other.ParentSpanID(), s.Name())
		assert.Equal(t, s.StartTimestamp(), other.StartTimestamp(), s.Name())
		assert.Equal(t, s.EndTimestamp(), other.EndTimestamp(), s.Name())
		assert.Equal(t, s.Attributes().AsRaw(), other.Attributes().AsRaw(), s.Name())
		assert.Equal(t, s.Events().Len(), other.Events().Len(), s.Name())
		if assert.Equal(t, s.Links().Len(), other.Links().Len(), s.Name()) {
			for i, l := range s.Links().All() {
				o := other.Links().At(i)
				assert.Equal(t, spanID{Trace: l.TraceID(), Span: l.SpanID()}, spanID{Trace: o.TraceID(), Span: o.SpanID()}, s.Name())
				assert.Equal(t, l.Attributes().AsRaw(), o.Attributes().AsRaw(), s.Name())
			}
		}
	}
}

// line is a span as the critical path of Jaeger's page sees it: whole microseconds, parents and children only.
type line struct {
	v1Span
	parent   *line
	children []*line
}

func (l *line) end() int64 { return l.StartTime + l.Duration }

// lines builds the tree of a trace and checks that the page need not clip a child to its parent.
func lines(t *testing.T, spans []v1Span) (roots []*line, byID map[string]*line) {
	t.Helper()
	roots, byID = tree(t, spans)
	for _, l := range byID {
		for _, child := range l.children {
			// Jaeger rounds starts down and durations separately: spans that end together may end a microsecond apart.
			assert.True(t, l.StartTime <= child.StartTime && child.end() <= l.end()+1, "%s [%d, %d] would be cut, below %s [%d, %d]",
				child.OperationName, child.StartTime, child.end(), l.OperationName, l.StartTime, l.end())
		}
	}
	return roots, byID
}

// tree builds the tree of a trace. The page treats the first reference as the parent.
func tree(t *testing.T, spans []v1Span) (roots []*line, byID map[string]*line) {
	t.Helper()
	byID = map[string]*line{}
	for _, s := range spans {
		byID[s.SpanID] = &line{v1Span: s}
	}
	for _, l := range byID {
		if len(l.References) == 0 {
			roots = append(roots, l)
			continue
		}
		require.Equal(t, "CHILD_OF", l.References[0].RefType, "first reference of %s", l.OperationName)
		l.parent = byID[l.References[0].SpanID]
		require.NotNil(t, l.parent, "parent of %s", l.OperationName)
		l.parent.children = append(l.parent.children, l)
	}
	for _, l := range byID {
		slices.SortFunc(l.children, func(a, b *line) int { return cmp.Compare(a.StartTime, b.StartTime) })
	}
	return roots, byID
}

// visit walks from a span as the page does: into the child that ends last, then the one that ended last strictly before that one began.
// It returns the visited children.
func (l *line) visit(visited map[*line]bool) []*line {
	var own []*line
	for child := l.last(0); child != nil; child = l.last(child.StartTime) {
		visited[child] = true
		own = append(own, child)
		child.visit(visited)
	}
	return own
}

// last returns the child that ends last, optionally before a time. The page skips children that begin at the end of their parent.
func (l *line) last(before int64) (found *line) {
	for _, child := range l.children {
		if child.StartTime < l.end() && (before == 0 || child.end() < before) && (found == nil || child.end() > found.end()) {
			found = child
		}
	}
	return found
}

// checkJaegersLine checks that the page's critical path, started at any thread of a window, visits each span that is blocked for three
// microseconds or more (shorter ones may vanish by rounding), and all of the critical-path lane.
func checkJaegersLine(t *testing.T, o *output, spans []v1Span) {
	t.Helper()
	roots, all := lines(t, spans)
	require.Len(t, roots, 1)
	blocked, shorter, skipped := 0, 0, map[string]int{}
	for _, thread := range roots[0].children {
		visited := map[*line]bool{}
		thread.visit(visited)
		for _, child := range thread.children {
			s := o.ByID[idOf(t, child.TraceID, child.SpanID)]
			require.NotNil(t, s)
			switch {
			case visited[child]:
			case s.Number("weft.interval.time") < 3*spantest.Microsecond:
				shorter++
			default:
				skipped[child.OperationName]++
				assert.False(t, s.Text("weft.state") == "blocked" || thread.OperationName == "critical path",
					"skipped: %s [%d, %d] of %s", s.Name(), child.StartTime, child.end(), s.Text("thread.name"))
			}
			if s.Text("weft.state") == "blocked" {
				blocked++
			}
		}
	}
	whole := map[*line]bool{}
	var names []string
	for _, l := range roots[0].visit(whole) {
		names = append(names, l.OperationName)
	}
	t.Logf("of %d spans, %d blocked; skipped: %v and %d of less than 3 µs; the whole trace's line goes through %d spans, by way of %v",
		len(all), blocked, slices.Collect(maps.Keys(skipped)), shorter, len(whole), names)
}
