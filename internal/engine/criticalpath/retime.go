// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Retiming computes what would happen earlier if something else did. Its points are the moments at which a thread depends on another: the
// ends of waits with a known cause, and the starts of threads and of holds. The time between two points of a thread keeps its length.
//
// The gain of a point is how much earlier it would be. It is the gain of the previous point of the thread, plus the time in between that is
// an elastic wait; and it is at most the gain of the point at the other end of its edge. A Retiming can be reused to save memory. The zero
// Retiming is ready for use.
type Retiming struct {
	graph   *Graph
	lo, hi  jvmthread.Time
	points  []point // in topological order; the first is the root, which is at lo and never moves
	lanes   []int32 // by lane: its first point in lane order
	before  []int32 // by interval: number of points before it in lane order
	place   []int32 // by point in lane order: its index in points
	raw     []rawPoint
	entries []rawPoint // starts of holds, by interval and time
	sorted  []rawPoint // buffer for sorting them
	broken  int
	scratch
}

// point is a moment of a thread.
type point struct {
	elastic jvmthread.Time // time since prev that is a wait that can shrink
	loose   jvmthread.Time // how much later the other end could be without delaying this one
	prev    int32          // on the same thread, or the root
	src     int32          // the other end, or none if no dependency is known
	lock    int32          // index of the contended lock if the edge is contention, or none
}

// rawPoint is a point whose edge is not resolved yet.
type rawPoint struct {
	point
	at      jvmthread.Time
	where   int32 // the interval, as an index into the graph's nodes
	srcLane int32
	srcAt   jvmthread.Time
	srcIv   int32 // index of the interval of the other end in its lane, or none: the interval that ends at srcAt
}

const infinite = jvmthread.Time(1) << 61

// Retime prepares r for computing savings and slacks over [lo, hi).
func (g *Graph) Retime(lo, hi jvmthread.Time, r *Retiming) {
	r.graph, r.lo, r.hi, r.broken = g, lo, max(lo, hi), 0
	r.raw, r.entries, r.lanes = r.raw[:0], r.entries[:0], r.lanes[:0]
	r.before = slices.Grow(r.before[:0], len(g.nodes)+1)[:len(g.nodes)+1]
	r.uncontended()
	entry := 0
	for i := range g.lanes {
		r.lanes = append(r.lanes, int32(len(r.raw)))
		entry = r.lane(int32(i), entry)
	}
	r.before[len(g.nodes)] = int32(len(r.raw))
	r.order()
}

// Broken returns the number of dependencies that were dropped because they were part of a cycle. A graph of real events has none.
func (r *Retiming) Broken() int { return r.broken }

// uncontended finds the holds that began while their thread was running: it did not have to wait, but the lock had to be free.
func (r *Retiming) uncontended() {
	g := r.graph
	for k := range g.locks {
		for i := g.locks[k].first + 1; i < g.locks[k].stop; i++ {
			h, last := &g.holds[i], &g.holds[i-1]
			if h.lane < 0 || last.lane < 0 || h.thread == last.thread || h.start <= r.lo || h.start >= r.hi {
				continue
			}
			l := &g.lanes[h.lane]
			at := g.at(l, h.start)
			if int(at) >= len(l.intervals) || (at == 0 || !l.contiguous) && l.intervals[at].Start > h.start {
				continue
			}
			where := l.base + at
			if g.lockOf[where] >= 0 || at > 0 && g.nodes[where-1].end == h.start && g.lockOf[where-1] == int32(k) {
				continue
			}
			r.entries = append(r.entries, rawPoint{
				point: point{loose: h.start - last.end, lock: int32(k)},
				at:    h.start, where: where, srcLane: last.lane, srcAt: last.end, srcIv: none,
			})
		}
	}
	r.sortEntries()
}

// sortEntries sorts the starts of holds, which arrive by lock and time, by interval and time. Few share an interval, so a counting sort
// does most of the work.
func (r *Retiming) sortEntries() {
	next := r.before // unused until the lanes are added
	clear(next)
	for i := range r.entries {
		next[r.entries[i].where+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	sorted := slices.Grow(r.sorted[:0], len(r.entries))[:len(r.entries)]
	for i := range r.entries {
		at := &next[r.entries[i].where]
		sorted[*at] = r.entries[i]
		*at++
	}
	r.entries, r.sorted = sorted, r.entries
	byTime := func(a, b rawPoint) int { return cmp.Compare(a.at, b.at) }
	for first, end := 0, 0; first < len(sorted); first = end {
		for end < len(sorted) && sorted[end].where == sorted[first].where {
			end++
		}
		if end-first > 1 {
			slices.SortStableFunc(sorted[first:end], byTime)
		}
	}
}

// lane adds the points of a lane in order, and returns the index of the first hold entry after it.
func (r *Retiming) lane(id int32, entry int) int {
	g := r.graph
	l := &g.lanes[id]
	if l.start >= 0 && l.intervals[0].Start > r.lo && l.intervals[0].Start < r.hi {
		e := &g.edges[l.start]
		r.raw = append(r.raw, rawPoint{
			point: point{elastic: infinite, lock: none}, at: l.intervals[0].Start, where: l.base,
			srcLane: e.lane, srcAt: e.cause, srcIv: e.index,
		})
	}
	for i := range l.intervals {
		iv, where := &l.intervals[i], l.base+int32(i)
		r.before[where] = int32(len(r.raw))
		for ; entry < len(r.entries) && r.entries[entry].where == where; entry++ {
			r.raw = append(r.raw, r.entries[entry])
		}
		if iv.End > r.lo && iv.Start < r.hi && iv.State != jvmthread.StateRunnable {
			r.wait(iv, where)
		}
	}
	return entry
}

// wait adds the point at the end of an interval that can shrink.
func (r *Retiming) wait(iv *jvmthread.Interval, where int32) {
	g := r.graph
	n := &g.nodes[where]
	end := min(iv.End, r.hi)
	p := rawPoint{point: point{elastic: max(0, end-max(iv.Start, r.lo)), lock: none}, at: end, where: where, srcLane: none, srcIv: none}
	block := iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateReentering
	if block || iv.Wait.Contended() {
		p.lock = g.lock(iv.Lock)
	}
	switch iv.State { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateParked,
		jvmthread.StateSleeping:
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateDeadlocked, jvmthread.StateSuspended, jvmthread.StateDead:
		return
	}
	e, known := (*edge)(nil), iv.End <= r.hi
	if n.edge >= 0 && known && (block || !iv.Marks.Has(jvmthread.MarkTimedOut)) {
		e = &g.edges[n.edge]
	}
	switch h := r.holder(iv, where, end); {
	case h != nil:
		p.srcLane, p.srcAt = h.lane, min(h.end, end)
	case e != nil:
		p.srcLane, p.srcAt, p.srcIv = e.lane, e.cause, e.index
		p.loose = max(0, iv.Start-e.cause) // the cause came before the wait
	case iv.State == jvmthread.StateJoining && !known:
		p.srcLane, p.srcAt = g.laneOf(iv.Peer), end
	}
	if p.srcLane >= 0 || p.lock >= 0 {
		r.raw = append(r.raw, p)
	}
}

// holder returns the last other owner of the lock that an interval waits for, or nil.
func (r *Retiming) holder(iv *jvmthread.Interval, where int32, end jvmthread.Time) *hold {
	g := r.graph
	of := g.lockOf[where]
	if of < 0 {
		return nil
	}
	k := &g.locks[of]
	at := g.holdAt(k, end-1)
	if at == k.stop || g.holds[at].start >= end {
		at--
	}
	if at >= k.first && g.holds[at].end > iv.Start && g.holds[at].thread != iv.Thread {
		return &g.holds[at]
	}
	return nil
}
