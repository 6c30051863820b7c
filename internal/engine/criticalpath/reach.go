// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// Reach marks the waits on the bounded paths of threads over [lo, hi) for Idle. It returns the number of visited pieces, and false if it
// gave up after maxPieces of them. It walks like Bounded, but builds no path and does not follow another of the given threads, whose own
// path covers what that thread waited for. Call it once.
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

// owned reports whether all known owners of a lock are reached.
func (g *Graph) owned(k *lock) bool {
	for i := k.first; i < k.stop; i++ {
		if at := g.holds[i].lane; at >= 0 && !g.lanes[at].reached {
			return false
		}
	}
	return true
}
