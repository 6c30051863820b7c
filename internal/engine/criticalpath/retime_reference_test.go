// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Reference is a simple Retiming: it finds everything by searching, knows no blocks of time, and retimes all points for each group alone.
type Reference struct {
	g      *Graph
	lo, hi jvmthread.Time
	points []refPoint // by lane
	first  []int      // by lane: its first point; one more for the end
	order  []int      // a topological order of the points
	Broken int
}

type refPoint struct {
	elastic, loose, at, srcAt jvmthread.Time
	lane, index               int32 // its interval
	srcLane, srcIndex         int32
	prev, src                 int // points; -1: the root
	hasSrc                    bool
	lock                      int32
}

// NewReference retimes a graph over [lo, hi).
func NewReference(g *Graph, lo, hi jvmthread.Time) *Reference {
	r := &Reference{g: g, lo: lo, hi: max(lo, hi)}
	entries := r.entries()
	for id := range g.lanes {
		r.first = append(r.first, len(r.points))
		l := &g.lanes[id]
		if l.start >= 0 && l.intervals.Start(0) > r.lo && l.intervals.Start(0) < r.hi {
			e := &g.edges[l.start]
			r.points = append(r.points, refPoint{
				elastic: infinite, at: l.intervals.Start(0), srcAt: e.cause, lane: int32(id), index: -1, srcLane: e.lane, srcIndex: e.index, lock: none,
			})
		}
		for i, iv := range l.intervals.All() {
			list := entries[[2]int32{int32(id), int32(i)}]
			slices.SortStableFunc(list, func(a, b refPoint) int { return cmp.Compare(a.at, b.at) })
			r.points = append(r.points, list...)
			if iv.End > r.lo && iv.Start < r.hi {
				r.wait(&iv, int32(id), int32(i))
			}
		}
	}
	r.first = append(r.first, len(r.points))
	r.sort()
	return r
}

// interval returns the first interval of a lane that ends after t.
func (r *Reference) interval(lane int32, t jvmthread.Time) int32 {
	list := r.g.lanes[lane].intervals
	return int32(sort.Search(list.Len(), func(i int) bool { return list.End(i) > t }))
}

// entries returns the starts of uncontended holds, by lane and interval.
func (r *Reference) entries() map[[2]int32][]refPoint {
	g, out := r.g, make(map[[2]int32][]refPoint)
	for k := range g.locks {
		for i := g.locks[k].first + 1; i < g.locks[k].stop; i++ {
			h, last := &g.holds[i], &g.holds[i-1]
			if h.lane < 0 || last.lane < 0 || h.thread == last.thread || h.start <= r.lo || h.start >= r.hi {
				continue
			}
			l, at := &g.lanes[h.lane], r.interval(h.lane, h.start)
			if int(at) == l.intervals.Len() || l.intervals.Start(int(at)) > h.start || g.nodes[l.base+at].owned() >= 0 ||
				at > 0 && l.intervals.End(int(at-1)) == h.start && g.nodes[l.base+at-1].owned() == int32(k) {
				continue
			}
			key := [2]int32{h.lane, at}
			out[key] = append(out[key], refPoint{
				loose: h.start - last.end, at: h.start, srcAt: last.end, lane: h.lane, index: at, srcLane: last.lane, srcIndex: none, lock: int32(k),
			})
		}
	}
	return out
}

// wait adds the end of an interval.
func (r *Reference) wait(iv *jvmthread.Interval, lane, index int32) {
	g := r.g
	end, known := min(iv.End, r.hi), iv.End <= r.hi
	p := refPoint{elastic: max(0, end-max(iv.Start, r.lo)), at: end, lane: lane, index: index, srcLane: none, srcIndex: none, lock: none}
	block := iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateReentering
	switch iv.State { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateParked,
		jvmthread.StateSleeping:
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateDeadlocked, jvmthread.StateSuspended, jvmthread.StateDead,
		jvmthread.StateQueued:
		return
	}
	if block || iv.Wait.Contended() {
		p.lock = g.lock(iv.Lock)
	}
	edge := g.nodes[g.lanes[lane].base+index].edge
	switch h := r.holder(iv, g.nodes[g.lanes[lane].base+index].owned(), end); {
	case h != nil:
		p.srcLane, p.srcAt = h.lane, min(h.end, end)
	case edge >= 0 && known && (block || !iv.Marks.Has(jvmthread.MarkTimedOut)):
		e := &g.edges[edge]
		p.srcLane, p.srcAt, p.srcIndex, p.loose = e.lane, e.cause, e.index, max(0, iv.Start-e.cause)
	case iv.State == jvmthread.StateJoining && !known:
		p.srcLane, p.srcAt = g.laneOf(iv.Peer), end
	}
	if p.srcLane >= 0 || p.lock >= 0 {
		r.points = append(r.points, p)
	}
}

// holder returns the last hold of a lock before end, if it is of another thread and ended after the start of the interval.
func (r *Reference) holder(iv *jvmthread.Interval, of int32, end jvmthread.Time) *hold {
	if of < 0 {
		return nil
	}
	k := &r.g.locks[of]
	holds := r.g.holds[k.first:k.stop]
	at := sort.Search(len(holds), func(i int) bool { return holds[i].start >= end }) - 1
	if at < 0 || holds[at].end <= iv.Start || holds[at].thread == iv.Thread {
		return nil
	}
	return &holds[at]
}

// last returns the last point of a lane up to a time and an interval, or -1.
func (r *Reference) last(lane int32, t jvmthread.Time, index int32) int {
	if index < 0 {
		index = min(r.interval(lane, t-1), int32(r.g.lanes[lane].intervals.Len())-1)
	}
	list := r.points[r.first[lane]:r.first[lane+1]]
	n := sort.Search(len(list), func(i int) bool { return list[i].index > index || list[i].index == index && list[i].at > t })
	return r.first[lane] + n - 1
}

// sort finds a topological order. It starts with the first lane, and continues with what the last point made possible.
func (r *Reference) sort() {
	missing, dependent := make([]int, len(r.points)), make([][]int, len(r.points))
	for lane := range r.g.lanes {
		for i := r.first[lane]; i < r.first[lane+1]; i++ {
			p := &r.points[i]
			p.prev, p.src = -1, -1
			if i > r.first[lane] {
				p.prev = i - 1
				missing[i]++
			}
			if p.hasSrc = p.srcLane >= 0; !p.hasSrc || p.srcAt <= r.lo {
				continue
			}
			if at := r.last(p.srcLane, p.srcAt, p.srcIndex); at >= r.first[p.srcLane] {
				p.src = at
				missing[i]++
				dependent[at] = append([]int{i}, dependent[at]...)
			}
		}
	}
	placed := make([]bool, len(r.points))
	place := func(i int) {
		for ready := []int{i}; len(ready) > 0; {
			i := ready[len(ready)-1]
			ready = ready[:len(ready)-1]
			placed[i] = true
			r.order = append(r.order, i)
			next := dependent[i]
			if i+1 < len(r.points) && r.points[i+1].prev == i {
				next = append(slices.Clone(next), i+1)
			}
			for _, n := range next {
				if missing[n]--; missing[n] == 0 && !placed[n] {
					ready = append(ready, n)
				}
			}
		}
	}
	for i := range r.points {
		if missing[i] == 0 && !placed[i] {
			place(i)
		}
	}
	for i := range r.points {
		if !placed[i] { // in a cycle, or after one
			r.Broken++
			r.points[i].hasSrc, r.points[i].src = false, -1
			place(i)
		}
	}
}
