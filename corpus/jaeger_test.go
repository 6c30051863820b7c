// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/corpus/spantest"
)

// line is a span as the critical path of Jaeger's page sees it: whole microseconds, parents and children only.
type line struct {
	*spantest.Span

	start, duration int64
	children        []*line
}

func (l *line) end() int64 { return l.start + l.duration }

// checkJaeger computes the critical path of each trace as Jaeger's page does, and checks that it shows what Weft found.
func checkJaeger(t spantest.T, r *run) {
	t.Helper()
	traces := map[pcommon.TraceID][]*spantest.Span{}
	for _, s := range r.ByID {
		if !s.InRequest() {
			traces[s.TraceID()] = append(traces[s.TraceID()], s)
		}
	}
	for _, spans := range traces {
		root := tree(t, spans)
		checkClipping(t, root)
		if root.OfIncident() {
			assert.NotEmpty(t, root.visit(map[*line]bool{}), "the path of %s goes through a wait or a hold", root.Name())
		} else {
			checkLines(t, root)
		}
	}
}

// tree builds the tree of a trace.
func tree(t spantest.T, spans []*spantest.Span) (root *line) {
	t.Helper()
	byID := map[pcommon.SpanID]*line{}
	for _, s := range spans {
		byID[s.SpanID()] = &line{
			Span: s, start: s.Begin() / spantest.Microsecond, duration: int64(s.EndTimestamp()-s.StartTimestamp()) / spantest.Microsecond,
		}
	}
	for _, l := range byID {
		if l.IsRoot() {
			require.Nil(t, root, "a second root")
			root = l
			continue
		}
		parent := byID[l.ParentSpanID()]
		require.NotNil(t, parent, "parent of %s", l.Name())
		parent.children = append(parent.children, l)
	}
	require.NotNil(t, root)
	for _, l := range byID {
		slices.SortFunc(l.children, func(a, b *line) int { return cmp.Compare(a.start, b.start) })
	}
	return root
}

// checkClipping checks that the page need not clip a child to its parent. Jaeger rounds starts down and durations separately: spans that end together
// may end a microsecond apart.
func checkClipping(t spantest.T, parent *line) {
	t.Helper()
	for _, l := range parent.children {
		assert.True(t, parent.start <= l.start && l.end() <= parent.end()+1, "%s [%d, %d] would be cut, below %s [%d, %d]",
			l.Name(), l.start, l.end(), parent.Name(), parent.start, parent.end())
		checkClipping(t, l)
	}
}

// visit walks from a span as the page does: into the child that ends last, then the one that ended last strictly before that one began.
// It returns the visited children.
func (l *line) visit(visited map[*line]bool) []*line {
	var own []*line
	for child := l.last(0); child != nil; child = l.last(child.start) {
		visited[child] = true
		own = append(own, child)
		child.visit(visited)
	}
	return own
}

// last returns the child that ends last, optionally before a time. The page skips children that begin at the end of their parent.
func (l *line) last(before int64) (found *line) {
	for _, child := range l.children {
		if child.start < l.end() && (before == 0 || child.end() < before) && (found == nil || child.end() > found.end()) {
			found = child
		}
	}
	return found
}

// checkLines checks that the page's critical path, started at any thread of a window, visits each span that is blocked for three microseconds or
// more (shorter ones may vanish by rounding), and all of the critical-path lane.
func checkLines(t spantest.T, root *line) {
	t.Helper()
	for _, thread := range root.children {
		visited := map[*line]bool{}
		thread.visit(visited)
		for _, child := range thread.children {
			if visited[child] || child.Number("weft.interval.time") < 3*spantest.Microsecond {
				continue
			}
			assert.False(t, child.Text("weft.state") == "blocked" || thread.Name() == "critical path", "skipped: %s [%d, %d] of %s",
				child.Name(), child.start, child.end(), child.Text("thread.name"))
		}
	}
}
