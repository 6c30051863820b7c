// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// Reach marks what the path of a thread over [lo, hi) leads through, so that Idle knows of it, and returns how many pieces of intervals it
// looked at. It does what Bounded does but puts no path together, and turns back where the path would lead into a thread that was reached
// before: what that one waited for is marked already. All calls for a graph have the same range.
func (g *Graph) Reach(thread jvmthread.ThreadID, lo, hi jvmthread.Time) (visited int) {
	var p Path
	p.reset(thread, lo, hi)
	w := walk{g: g, p: &p, now: lo, marks: true}
	w.run(thread)
	if at := g.laneNear(none, thread); at >= 0 && (g.limits.MaxPieces <= 0 || p.Visited < g.limits.MaxPieces) {
		g.lanes[at].reached = true
	}
	return p.Visited
}
