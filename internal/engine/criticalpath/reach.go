// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// Reach marks what the paths of threads over [lo, hi) lead through, so that Idle knows of it, and returns how many pieces of intervals it
// looked at. It gives up and returns false after the given number of them. It does what Bounded does but puts no path together, and turns
// back where a path would lead into another of the threads: what that one waited for is found on its own path. It is called once.
func (g *Graph) Reach(threads []jvmthread.ThreadID, lo, hi jvmthread.Time, maxPieces int) (visited int, ok bool) {
	for _, id := range threads {
		if at := g.laneOf(id); at >= 0 {
			g.lanes[at].reached = true
		}
	}
	for k := range g.locks {
		g.locks[k].reached = g.owned(&g.locks[k])
	}
	var p Path
	w := walk{g: g, p: &p, marks: true, maxPieces: maxPieces}
	for _, id := range threads {
		visited := p.Visited
		p.reset(id, lo, hi)
		p.Visited, w.now = visited, lo
		if !w.run(id) {
			return p.Visited, false
		}
	}
	return p.Visited, true
}

// owned reports whether all threads that are known to have owned a lock are reached.
func (g *Graph) owned(k *lock) bool {
	for i := k.first; i < k.stop; i++ {
		if at := g.holds[i].lane; at >= 0 && !g.lanes[at].reached {
			return false
		}
	}
	return true
}
