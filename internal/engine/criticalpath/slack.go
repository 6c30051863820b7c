// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Slacks computes for every wait how much longer it could last without delaying the end of a thread. Slack returns the results.
func (r *Retiming) Slacks(thread jvmthread.ThreadID) {
	r.slacks = slices.Grow(r.slacks[:0], len(r.points))[:len(r.points)]
	for i := range r.slacks {
		r.slacks[i] = infinite
	}
	end, ok := r.end(thread)
	if !ok {
		return
	}
	r.slacks[end] = 0
	for i := len(r.points) - 1; i > 0; i-- {
		p, s := &r.points[i], r.slacks[i]
		if s == infinite {
			continue
		}
		if p.src < 0 {
			r.slacks[p.prev] = min(r.slacks[p.prev], s)
			continue
		}
		r.slacks[p.prev] = min(r.slacks[p.prev], s+p.elastic)
		r.slacks[p.src] = min(r.slacks[p.src], s+p.loose)
	}
}

// Slack returns how much longer a wait could last, as computed by Slacks. It returns false if the interval is not a wait with a known
// cause, or if the end does not depend on it.
func (r *Retiming) Slack(ref jvmthread.IntervalRef) (jvmthread.Time, bool) {
	g := r.graph
	at := g.laneOf(ref.Thread)
	index := g.index(at, ref.Seq)
	if index < 0 || len(r.slacks) != len(r.points) {
		return 0, false
	}
	l := &g.lanes[at]
	p := r.last(at, min(l.intervals[index].End, r.hi), index)
	if p < 0 || r.raw[p].where != l.base+index || r.slacks[r.place[p]] >= infinite {
		return 0, false
	}
	return r.slacks[r.place[p]], true
}
