// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
)

// maxSegments bounds the spans of a path. Jaeger's own search for a critical path overflows at some thousand siblings.
const maxSegments = 1000

// Segments chooses the segments of a window's path that get a span: the longest, in the order of time, as many as a share of the budget
// allows. The budget is that of all spans of the window, 0 for none.
func Segments(w *window.Window, budget int) []criticalpath.Segment {
	if w.Verdict == nil {
		return nil
	}
	all, count := w.Verdict.Path.Segments, segmentCount(w, budget)
	if len(all) == count {
		return all
	}
	chosen := slices.Clone(all)
	slices.SortStableFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	chosen = chosen[:count]
	slices.SortFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return chosen
}

// segmentCount is how many segments Segments chooses.
func segmentCount(w *window.Window, budget int) int {
	if w.Verdict == nil {
		return 0
	}
	limit := maxSegments
	if budget > 0 {
		limit = min(limit, budget/4)
	}
	return min(len(w.Verdict.Path.Segments), limit)
}

// Select decides what a window's trace shows within a budget of spans, 0 for all: it finds the critical path (a nil Finder finds none), and
// selects the intervals that are kept. Whoever does the same with the same window knows which spans there are.
func Select(w *window.Window, finder *window.Finder, budget int) {
	finder.Find(w)
	reserved := segmentCount(w, budget)
	if reserved > 0 {
		reserved++ // the lane
	}
	w.Select(budget, reserved)
}

// Prepare is Select for one who makes the spans: it returns the segments of the path that get one.
func Prepare(w *window.Window, finder *window.Finder, budget int) []criticalpath.Segment {
	Select(w, finder, budget)
	return Segments(w, budget)
}
