// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Pin makes sure that an interval of the current window will have a span, so that links to the span can be written before the window is cut.
// Calls for a thread are in the order of its intervals, at most MaxPins of them for a window.
func (b *Builder) Pin(th *timeline.Thread, seq jvmthread.Seq) {
	l := b.lane(th)
	l.pinned = append(l.pinned, seq)
}

// MaxPins returns how many intervals may be pinned in a window with a budget of spans, 0 for no limit.
func MaxPins(maxSpans int) int {
	if maxSpans <= 0 {
		return math.MaxInt
	}
	return max(0, (maxSpans-8)/4) // there may be as many threads, the critical path takes a quarter, and the root
}

// keepPinned keeps the pinned intervals of a lane.
func (l *Lane) keepPinned(keep func(at int)) {
	for _, seq := range l.pinned {
		if at := l.Intervals.Index(seq); at >= 0 {
			keep(at)
		}
	}
}
