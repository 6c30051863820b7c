// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// scaling is reusable memory of Scaled.
type scaling struct {
	permille int64
	runs     []jvmthread.Time // by interval: running time of the thread before it
	held     []section        // of the lock, by lane and time
	heldAt   []int32          // by lane: its first section
	own      []jvmthread.Time // by point: what its thread saved up to it by its own sections
	other    []jvmthread.Time // by point: what the other thread saves between its last point and the cause
	gain     []jvmthread.Time // by point
}

// section is a hold of the lock.
type section struct {
	start, end jvmthread.Time
	lane       int32
	before     jvmthread.Time // running time of the thread in earlier sections
	from       jvmthread.Time // running time of the thread when the section began
}

// Scaled returns how much earlier a thread would end if, while holding a lock, every thread needed only permille/1000 of its running time.
// With 0, only sleeps and waits remain inside the lock. It costs about as much as Retime.
func (r *Retiming) Scaled(thread jvmthread.ThreadID, id jvmthread.LockID, permille int64) jvmthread.Time {
	lane := r.graph.laneOf(thread)
	at, ok := r.graph.byLock[id]
	if !ok || lane < 0 || r.graph.locks[at].first == r.graph.locks[at].stop {
		return 0
	}
	r.permille = min(max(permille, 0), 1000)
	r.sections(&r.graph.locks[at])
	n := len(r.points)
	r.own, r.other, r.gain = slices.Grow(r.own[:0], n)[:n], slices.Grow(r.other[:0], n)[:n], slices.Grow(r.gain[:0], n)[:n]
	r.own[0], r.other[0], r.gain[0] = 0, 0, 0
	for at := range r.lanes {
		for i := int(r.lanes[at]); i < r.laneStop(int32(at)); i++ {
			r.own[r.place[i]] = r.saved(int32(at), r.raw[i].at)
		}
	}
	for i := range r.raw {
		p, to := &r.raw[i], r.place[i]
		r.other[to] = 0
		if p.srcLane >= 0 && p.srcAt > r.lo && r.points[to].src >= 0 {
			r.other[to] = r.saved(p.srcLane, p.srcAt) - r.own[r.points[to].src]
		}
	}
	for i := 1; i < n; i++ {
		p := &r.points[i]
		gain := r.gain[p.prev] + r.own[i] - r.own[p.prev]
		if p.src >= 0 {
			gain = min(gain+p.elastic, r.gain[p.src]+r.other[i]+p.loose)
		}
		r.gain[i] = gain
	}
	end := int32(0)
	if at, ok := r.end(thread); ok {
		end = at
	}
	return r.gain[end] + r.saved(lane, r.hi) - r.own[end]
}

// sections finds the holds of a lock, and how long their owners were running in them.
func (r *Retiming) sections(k *lock) {
	g := r.graph
	r.runs = slices.Grow(r.runs[:0], len(g.nodes))[:len(g.nodes)]
	for i := range g.lanes {
		l, sum := &g.lanes[i], jvmthread.Time(0)
		for j := range l.intervals.Len() {
			r.runs[int(l.base)+j] = sum
			if n := &g.nodes[int(l.base)+j]; n.state == jvmthread.StateRunnable {
				sum += r.length(g.start(l, int32(j)), n.end)
			}
		}
	}
	r.held = r.held[:0]
	for i := k.first; i < k.stop; i++ {
		if h := &g.holds[i]; h.lane >= 0 {
			r.held = append(r.held, section{start: h.start, end: h.end, lane: h.lane})
		}
	}
	slices.SortStableFunc(r.held, func(a, b section) int { return int(a.lane) - int(b.lane) })
	r.heldAt = slices.Grow(r.heldAt[:0], len(g.lanes)+1)[:len(g.lanes)+1]
	next := 0
	for i := range g.lanes {
		r.heldAt[i] = int32(next)
		sum := jvmthread.Time(0)
		for ; next < len(r.held) && r.held[next].lane == int32(i); next++ {
			s := &r.held[next]
			s.before, s.from = sum, r.ran(s.lane, s.start)
			sum += r.ran(s.lane, s.end) - s.from
		}
	}
	r.heldAt[len(g.lanes)] = int32(next)
}

// length returns how much of [start, end) is between lo and hi.
func (r *Retiming) length(start, end jvmthread.Time) jvmthread.Time {
	return max(0, min(end, r.hi)-max(start, r.lo))
}

// ran returns how long a thread had been running by time t.
func (r *Retiming) ran(at int32, t jvmthread.Time) jvmthread.Time {
	g := r.graph
	l := &g.lanes[at]
	if l.intervals.Len() == 0 {
		return 0
	}
	index := min(g.at(l, t), int32(l.intervals.Len())-1)
	sum := r.runs[l.base+index]
	if n := &g.nodes[l.base+index]; n.state == jvmthread.StateRunnable {
		sum += r.length(g.start(l, index), min(t, n.end))
	}
	return sum
}

// saved returns how much less a thread would have run in the sections up to time t.
func (r *Retiming) saved(at int32, t jvmthread.Time) jvmthread.Time {
	list := r.held[r.heldAt[at]:r.heldAt[at+1]]
	n := sort.Search(len(list), func(i int) bool { return list[i].start >= t })
	if n == 0 {
		return 0
	}
	s := &list[n-1]
	ran := s.before + r.ran(at, min(t, s.end)) - s.from
	return ran - jvmthread.Time(int64(ran)*r.permille/1000)
}
