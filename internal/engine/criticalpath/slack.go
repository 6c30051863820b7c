// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// Slacks computes for every wait how much longer it could last without delaying the end of a thread. Slack returns the results.
func (r *Retiming) Slacks(thread jvmthread.ThreadID) {
	end, ok := r.end(thread)
	if !ok {
		end = none
	}
	r.slacks = r.slacksOf(r.slacks, end)
}

// slacksOf returns how much later each point could be without delaying the point end, in the memory of a slice. Without an end, nothing
// matters.
func (r *Retiming) slacksOf(slacks []jvmthread.Time, end int32) []jvmthread.Time {
	slacks = fill(slacks, len(r.points), infinite)
	if end < 0 {
		return slacks
	}
	slacks[end] = 0
	for i := end; i > 0; i-- {
		p, s := &r.points[i], slacks[i]
		if s == infinite {
			continue
		}
		if p.src < 0 {
			slacks[p.prev] = min(slacks[p.prev], s)
			continue
		}
		slacks[p.prev] = min(slacks[p.prev], s+p.elastic)
		slacks[p.src] = min(slacks[p.src], s+p.loose)
	}
	return slacks
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
	p := r.last(at, min(g.nodes[l.base+index].end, r.hi), index)
	if p < 0 || r.raw[p].where != l.base+index || r.slacks[r.place[p]] >= infinite {
		return 0, false
	}
	return r.slacks[r.place[p]], true
}
