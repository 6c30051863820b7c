// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
)

// Select decides what a window's trace shows within a budget of spans, 0 for all: it selects the intervals that get a span. The critical
// path must have been found if there is one.
func Select(w *window.Window, budget int) {
	reserved := segmentCount(w, budget)
	if reserved > 0 {
		reserved++ // the lane
	}
	if budget > 0 {
		w.FoldMinor()
	}
	w.Select(budget, reserved)
}

// Prepare finds the critical path of a window (a nil Finder finds none), and is then Select and Segments.
func Prepare(w *window.Window, finder *window.Finder, budget int) []criticalpath.Segment {
	finder.Find(w)
	Select(w, budget)
	return Segments(w, budget)
}

// Segments returns the segments of the critical path that get a span, for Append, after Select.
func Segments(w *window.Window, budget int) []criticalpath.Segment {
	if w.Verdict == nil {
		return nil
	}
	w.Verdict.FindSlacks()
	return segments(w.Verdict.Path.Segments, segmentCount(w, budget))
}

// maxSegments bounds the spans of a path. Jaeger's own search for a critical path overflows at some thousand siblings.
const maxSegments = 1000

// segmentCount is how many segments of the path get a span: with a budget, they take at most a quarter of it.
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

// segments chooses the longest segments, in the order of time.
func segments(all []criticalpath.Segment, count int) []criticalpath.Segment {
	if len(all) == count {
		return all
	}
	chosen := slices.Clone(all)
	slices.SortStableFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(b.End-b.Start, a.End-a.Start) })
	chosen = chosen[:count]
	slices.SortFunc(chosen, func(a, b criticalpath.Segment) int { return cmp.Compare(a.Start, b.Start) })
	return chosen
}
