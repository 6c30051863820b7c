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
	graph  *Graph
	lo, hi jvmthread.Time
	points []point // in topological order; the first is the root, which is at lo and never moves
	lanes  []int32 // by lane: its first point in lane order
	before []int32 // by interval: number of points before it in lane order
	place  []int32 // by point in lane order: its index in points
	raw    []rawPoint
	broken int
	located
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
	r.raw, r.lanes = r.raw[:0], r.lanes[:0]
	r.before = slices.Grow(r.before[:0], len(g.nodes)+1)[:len(g.nodes)+1]
	r.locate()
	for i := range g.lanes {
		r.lanes = append(r.lanes, int32(len(r.raw)))
		r.lane(int32(i))
	}
	r.before[len(g.nodes)] = int32(len(r.raw))
	r.order()
}

// Broken returns the number of dependencies that were dropped because they were part of a cycle. A graph of real events has none.
func (r *Retiming) Broken() int { return r.broken }

// lane adds the points of a lane in order.
func (r *Retiming) lane(id int32) {
	g := r.graph
	l := &g.lanes[id]
	nodes, start := g.nodes[l.base:int(l.base)+l.intervals.Len()], r.lo
	if len(nodes) > 0 {
		start = l.intervals.Start(0)
	}
	if l.start >= 0 && start > r.lo && start < r.hi {
		e := &g.edges[l.start]
		r.raw = append(r.raw, rawPoint{
			point: point{elastic: infinite, lock: none}, at: start, where: l.base, srcLane: e.lane, srcAt: e.cause, srcIv: e.index,
		})
	}
	for i := range nodes {
		n, where := &nodes[i], l.base+int32(i)
		r.before[where] = int32(len(r.raw))
		if !l.contiguous {
			start = l.intervals.Start(i)
		}
		if g.nodes[where].owned() < 0 && r.grants[where].lane != unlocated {
			r.entries(where)
		}
		if n.end > r.lo && start < r.hi && n.state != jvmthread.StateRunnable {
			r.wait(l, n, int32(i), start)
		}
		start = n.end
	}
}

// entries adds the starts of the holds that began in an interval: the thread did not have to wait, but the lock had to be free.
func (r *Retiming) entries(where int32) {
	first := len(r.raw)
	for i := r.grants[where].lane; i >= 0; i = r.nextHold[i].hold {
		h, last := &r.graph.holds[i], &r.graph.holds[i-1]
		r.raw = append(r.raw, rawPoint{
			point: point{loose: h.start - last.end, lock: r.nextHold[i].lock},
			at:    h.start, where: where, srcLane: last.lane, srcAt: last.end, srcIv: r.endOf[i-1],
		})
	}
	if list := r.raw[first:]; len(list) > 1 {
		slices.Reverse(list)
		slices.SortStableFunc(list, func(a, b rawPoint) int { return cmp.Compare(a.at, b.at) })
	}
}

// wait adds the point at the end of an interval that can shrink.
func (r *Retiming) wait(l *lane, n *node, index int32, start jvmthread.Time) {
	g, where := r.graph, l.base+index
	switch n.state { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateParked,
		jvmthread.StateSleeping:
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateDeadlocked, jvmthread.StateSuspended, jvmthread.StateDead,
		jvmthread.StateQueued:
		return
	}
	end, known := min(n.end, r.hi), n.end <= r.hi
	p := rawPoint{point: point{elastic: max(0, end-max(start, r.lo)), lock: none}, at: end, where: where, srcLane: none, srcIv: none}
	if n.flags&contended != 0 {
		if p.lock = n.lock; p.lock < 0 {
			p.lock = g.lock(jvmthread.NoLock)
		}
	}
	e := (*edge)(nil)
	if n.edge >= 0 && known && (n.flags&timedOut == 0 || n.state == jvmthread.StateBlocked || n.state == jvmthread.StateReentering) {
		e = &g.edges[n.edge]
	}
	switch h, ok := r.holder(l, where, start, end); {
	case ok:
		p.srcLane, p.srcAt, p.srcIv = h.lane, h.at, h.index
	case e != nil:
		p.srcLane, p.srcAt, p.srcIv = e.lane, e.cause, e.index
		p.loose = max(0, start-e.cause) // the cause came before the wait
	case n.state == jvmthread.StateJoining && !known:
		p.srcLane, p.srcAt = g.laneOf(l.intervals.Peer(int(index))), end
	}
	if p.srcLane >= 0 || p.lock >= 0 {
		r.raw = append(r.raw, p)
	}
}

// holder returns the end of the last hold by another thread of the lock that an interval waits for. It returns false if there is none, or if
// it ended before the interval.
func (r *Retiming) holder(l *lane, where int32, start, end jvmthread.Time) (grant, bool) {
	g := r.graph
	of := g.nodes[where].owned()
	if of < 0 {
		return grant{}, false
	}
	if h := r.grants[where]; h.lane != unlocated && g.nodes[where].end == end {
		return h, h.at > start
	}
	k := &g.locks[of]
	at := g.holdAt(k, end-1)
	if at == k.stop || g.holds[at].start >= end {
		at--
	}
	if at < k.first || g.holds[at].end <= start || g.holds[at].thread == l.thread {
		return grant{}, false
	}
	return grant{at: min(g.holds[at].end, end), lane: g.holds[at].lane, index: none}, true
}
