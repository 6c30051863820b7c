// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"math/bits"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	batch   = 8  // number of groups retimed in one pass over the points
	maxWork = 32 // for one call, in passes over all points
)

// drags is the memory for computing drags.
type drags struct {
	gains   [][batch]jvmthread.Time // by point, of the groups in a pass
	columns []int8                  // by group: its column in the pass, or -1
	narrow  []point                 // those that matter for the rest of the groups
	slack   []jvmthread.Time        // by point of narrow
	renamed []int32                 // by point before the last narrowing: its index after it, or the root
	upTo    [rankOfMost + 1]int     // by rank of slack: the number of points with at most this rank
}

// computeDrags computes the drags of groups, a batch at a time. On entry, the Drag fields contain the numbers of the groups. Many groups are sorted
// by bound, largest first.
func (r *Retiming) computeDrags(list []Saving, end int32) {
	points := r.points[:end+1]
	many := len(list) > fewGroups
	if many {
		r.weigh(end)
	}
	work := maxWork * len(points)
	for ; len(list) > 0; list = list[min(batch, len(list)):] {
		if many {
			points = r.narrowed(points, list[0].Bound)
		}
		if work -= len(points); work < 0 {
			break
		}
		r.pass(points, list[:min(batch, len(list))])
	}
	for i := range list {
		list[i].Drag, list[i].Unknown = 0, list[i].Bound > 0
	}
}

// pass retimes points once for up to a batch of groups. The last point is the end.
func (r *Retiming) pass(points []point, list []Saving) {
	r.columns = fill(r.columns, len(r.groups), -1)
	for k := range list {
		r.columns[list[k].Drag] = int8(k)
	}
	r.gains = slices.Grow(r.gains[:0], len(points))[:len(points)]
	r.gains[0] = [batch]jvmthread.Time{}
	for i := 1; i < len(points); i++ {
		p := &points[i]
		gain, before := &r.gains[i], &r.gains[p.prev]
		if p.src >= 0 {
			other := &r.gains[p.src]
			for k := range gain {
				gain[k] = min(before[k]+p.elastic, other[k]+p.loose)
			}
		} else {
			*gain = *before
		}
		if p.lock >= 0 {
			if k := r.columns[r.groupOf[p.lock]]; k >= 0 {
				gain[k] = before[k] + p.elastic
			}
		}
	}
	for k := range list {
		list[k].Drag = r.gains[len(points)-1][k]
	}
}

// weigh finds how much slack the points have.
func (r *Retiming) weigh(end int32) {
	r.slack = r.slacksOf(r.slack, end)[:end+1]
	clear(r.upTo[:])
	for _, s := range r.slack {
		r.upTo[rankOf(s)]++
	}
	for n := 1; n < len(r.upTo); n++ {
		r.upTo[n] += r.upTo[n-1]
	}
}

// rankOf maps times that are not negative to few numbers in the same order, with a resolution of an eighth.
func rankOf(t jvmthread.Time) int {
	if t < 8 {
		return int(t)
	}
	n := bits.Len64(uint64(t))
	return (n-3)*8 + int(t>>(n-4))&7
}

const rankOfMost = (63-3)*8 + 7

// narrowed leaves out the points with more slack than a bound, if they are enough to make it worthwhile. No drag is larger than its bound, so that it does not
// matter what happens at such a point: the root, which never moves, takes its place.
func (r *Retiming) narrowed(points []point, bound jvmthread.Time) []point {
	most := rankOf(bound)
	if 4*r.upTo[most] > 3*len(points) {
		return points
	}
	r.renamed = slices.Grow(r.renamed[:0], len(points))[:len(points)]
	r.renamed[0] = 0
	if cap(r.narrow) < len(points) {
		r.narrow = make([]point, 0, r.upTo[most]+1)
	}
	out := r.narrow[:1] // may be the same memory as points
	out[0] = points[0]
	for i := 1; i < len(points); i++ {
		r.renamed[i] = 0
		if rankOf(r.slack[i]) > most {
			continue
		}
		p := points[i]
		if p.prev = r.renamed[p.prev]; p.src >= 0 {
			p.src = r.renamed[p.src]
		}
		r.renamed[i] = int32(len(out))
		r.slack[len(out)] = r.slack[i]
		out = append(out, p)
	}
	r.narrow = out
	return out
}
