// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// located states in which intervals holds begin and end.
type located struct {
	grants   []grant // by interval
	nextHold []link  // by hold
	endOf    []int32 // by hold: the index in its lane of the interval at its end; none: unknown
	pending  []int32 // by lock: its first hold that is not located yet
}

// grant belongs to an interval. If the interval waits for a lock, and its thread got the lock at its end, it is the end of the previous hold.
// If it does not wait for a lock, lane is the last found hold that begins in it.
type grant struct {
	at    jvmthread.Time // never: the thread itself held the lock before
	lane  int32          // that held the lock, or none
	index int32          // of the interval at the end of the hold, in its lane
}

const (
	unlocated int32 = -2 // the lane of an interval at whose end no hold begins
	never           = jvmthread.Time(math.MinInt64)
)

// link belongs to a hold that begins in an interval that does not wait for a lock.
type link struct {
	hold int32 // that was found before in the same interval, or negative
	lock int32 // of this hold
}

// blockNodes is the number of intervals in a block of time.
const blockNodes = 256

// locate finds the intervals in which holds begin and end. Holds are sorted by lock, and each lock's holds are spread over the whole window.
// Locating all holds of one block of time before those of the next keeps the intervals around in the CPU's cache, and searches short.
func (r *Retiming) locate() {
	g := r.graph
	r.grants = fill(r.grants, len(g.nodes), grant{lane: unlocated})
	r.endOf = fill(r.endOf, len(g.holds), none)
	r.nextHold = slices.Grow(r.nextHold[:0], len(g.holds))[:len(g.holds)]
	r.pending = r.pending[:0]
	for k := range g.locks {
		r.pending = append(r.pending, g.locks[k].first)
	}
	// Each block looks at all locks, so that there are at most as many blocks as a lock has holds on average.
	blocks := max(1, min(len(g.nodes)/blockNodes, len(g.holds)/max(1, len(g.locks))))
	length := (r.hi-r.lo)/jvmthread.Time(blocks) + 1
	for until := r.lo; until < r.hi; {
		until += min(length, r.hi-until)
		for k := range g.locks {
			stop, i := g.locks[k].stop, r.pending[k]
			for ; i < stop && g.holds[i].start < until; i++ {
				if i > g.locks[k].first {
					r.begin(int32(k), i)
				}
			}
			r.pending[k] = i
		}
	}
}

// begin locates the start of a hold that is not the first one of its lock, and the end of the one before.
func (r *Retiming) begin(k, i int32) {
	g := r.graph
	h, last := &g.holds[i], &g.holds[i-1]
	if last.lane >= 0 {
		r.endOf[i-1] = r.ending(last.lane, last.end)
	}
	if h.lane < 0 || h.start <= r.lo {
		return
	}
	l := &g.lanes[h.lane]
	at := g.at(l, h.start)
	where := l.base + at
	if at > 0 && g.nodes[where-1].end == h.start && g.nodes[where-1].owned() == k {
		f := grant{at: last.end, lane: last.lane, index: r.endOf[i-1]}
		if last.thread == h.thread {
			f.at = never
		}
		r.grants[where-1] = f
		return
	}
	if int(at) >= l.intervals.Len() || last.lane < 0 || h.thread == last.thread || g.nodes[where].owned() >= 0 ||
		(at == 0 || !l.contiguous) && l.intervals.Start(int(at)) > h.start {
		return
	}
	head := &r.grants[where].lane
	r.nextHold[i] = link{hold: *head, lock: k}
	*head = i
}
