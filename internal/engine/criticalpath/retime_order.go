// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// scratch is reusable memory.
type scratch struct {
	missing []uint8 // by point in lane order: dependencies that are not placed yet
	waiting []int32 // by point in lane order: the first point that depends on it by an edge
	others  []int32 // by point in lane order: the next point that depends on the same one
	ready   []int32
	scaling
	connected
	drags
	slacks  []jvmthread.Time
	classes map[jvmthread.ClassID]int32
	groups  []jvmthread.LockID // the requested groups of locks
	groupOf []int32            // by lock: its group
	chained []int32            // by group: its last point on the chain of causes, or none
}

// ending returns the index of the interval of a lane that ends at t or contains the moment before it, or none.
func (r *Retiming) ending(at int32, t jvmthread.Time) int32 {
	l := &r.graph.lanes[at]
	return min(r.graph.at(l, t-1), int32(l.intervals.Len())-1)
}

// last returns the last point of a lane that is not after t, in lane order, or none. The time belongs to the interval at index; if index is
// negative, to the interval that ends at t.
func (r *Retiming) last(at int32, t jvmthread.Time, index int32) int32 {
	if index < 0 {
		if index = r.ending(at, t); index < 0 {
			return none
		}
	}
	l := &r.graph.lanes[at]
	first, stop := int(r.before[l.base+index]), int(r.before[l.base+index+1])
	if int(index)+1 == l.intervals.Len() {
		stop = r.laneStop(at)
	}
	for range 4 { // usually there are few
		if stop == first || r.raw[stop-1].at <= t {
			break
		}
		stop--
	}
	if stop > first && r.raw[stop-1].at > t {
		stop = first + sort.Search(stop-first, func(i int) bool { return r.raw[first+i].at > t })
	}
	if p := stop - 1; p >= int(r.lanes[at]) {
		return int32(p)
	}
	return none
}

// laneStop returns the index after the last point of a lane, in lane order.
func (r *Retiming) laneStop(at int32) int {
	if int(at)+1 < len(r.lanes) {
		return int(r.lanes[at+1])
	}
	return len(r.raw)
}

// order places every point after the points it depends on.
func (r *Retiming) order() {
	n := len(r.raw)
	r.missing = slices.Grow(r.missing[:0], n)[:n]
	r.waiting = slices.Grow(r.waiting[:0], n)[:n]
	r.others = slices.Grow(r.others[:0], n)[:n]
	r.place = slices.Grow(r.place[:0], n)[:n]
	for i := range n {
		r.missing[i], r.waiting[i], r.place[i] = 0, none, 0
	}
	for at := range r.lanes {
		for i := int(r.lanes[at]); i < r.laneStop(int32(at)); i++ {
			r.link(int32(i), r.lanes[at])
		}
	}
	r.points = append(r.points[:0], point{src: none, lock: none})
	r.ready = r.ready[:0]
	for i := range n {
		if r.missing[i] == 0 {
			r.release(int32(i))
		}
	}
	for i := range n { // the rest is in a cycle or after one; the first of each lane lacks only its edge
		if r.place[i] == 0 {
			r.broken++
			r.raw[i].src = none
			r.missing[i] = 0
			r.release(int32(i))
		}
	}
}

// link resolves what a point depends on.
func (r *Retiming) link(i, first int32) {
	p := &r.raw[i]
	p.prev, p.src = none, none
	if i > first {
		p.prev = i - 1
		r.missing[i]++
	}
	switch {
	case p.srcLane < 0:
		return
	case p.srcAt <= r.lo:
		p.src = root
		return
	}
	if p.src = r.last(p.srcLane, p.srcAt, p.srcIv); p.src < 0 {
		p.src = root
		return
	}
	r.missing[i]++
	r.others[i] = r.waiting[p.src]
	r.waiting[p.src] = i
}

// root marks the root as the other end of an edge before points are placed.
const root int32 = -2

// release places a point, and then the points whose last missing dependency it was.
func (r *Retiming) release(i int32) {
	r.ready = append(r.ready, i)
	for len(r.ready) > 0 {
		i := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		if r.place[i] != 0 {
			continue
		}
		raw := &r.raw[i]
		r.place[i] = int32(len(r.points))
		p := raw.point
		p.prev = 0
		if raw.prev >= 0 {
			p.prev = r.place[raw.prev]
		}
		if raw.src >= 0 {
			p.src = r.place[raw.src]
		} else if raw.src == root {
			p.src = 0
		}
		r.points = append(r.points, p)
		for next := r.waiting[i]; next >= 0; next = r.others[next] {
			r.done(next)
		}
		if next := i + 1; int(next) < len(r.raw) && r.raw[next].prev == i {
			r.done(next)
		}
	}
}

// fill returns a slice of n copies of a value in the memory of another slice.
func fill[T any](list []T, n int, value T) []T {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = value
	}
	return list
}

func (r *Retiming) done(i int32) {
	if r.place[i] != 0 {
		return
	}
	if r.missing[i]--; r.missing[i] == 0 {
		r.ready = append(r.ready, i)
	}
}
