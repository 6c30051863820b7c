// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Rollup is the sums of consecutive blocks, so that a range of millions of intervals need not be scanned. It does not change, and is dropped
// with the first of its blocks.
type Rollup struct {
	Start, End jvmthread.Time
	Threads    []ThreadSum
	Waits      []WaitSum // nil: nearly as many as intervals
	Locks      []LockSum // nil: nearly as many as intervals

	first, next uint64  // numbers of its blocks: [first, next)
	early       []chunk // lanes whose first interval began before the roll-up
	earlyHolds  []Hold  // that began before the roll-up
	size        int64

	// What decides whether a range contains the whole roll-up.
	firstEnd  jvmthread.Time // of the intervals and holds that began before the roll-up
	lastStart jvmthread.Time // of intervals and holds; also the last effect
	lastEnd   jvmthread.Time // of intervals and holds
}

// ThreadSum is a thread in a state.
type ThreadSum struct {
	Time      int64
	Thread    uint32
	Count     uint32 // intervals
	Begun     uint32 // of them, those that do not continue a wait
	State     jvmthread.State
	Contended bool
	Shown     jvmthread.State
}

// WaitSum is the waits of one kind at one place for locks of one class.
type WaitSum struct {
	Tally

	Locks, Threads Packed
	Longest        Ref
	Class          uint32
	Stack          StackID
	State          jvmthread.State // see Interval.As
	Wait           jvmthread.Wait
}

// Sum is a number of intervals or holds and their time.
type Sum struct{ Count, Time int64 }

// LongestWait is the longest contended wait for a lock: its site names the lock, as far as the source does.
type LongestWait struct {
	Length jvmthread.Time
	Stack  StackID
	Wait   jvmthread.Wait // WaitNone: there is none
}

// See considers a wait. Among equals, it keeps the one with the smallest stack.
func (l *LongestWait) See(o LongestWait) {
	if o.Length > l.Length || o.Length == l.Length && o.Wait != jvmthread.WaitNone && (l.Wait == jvmthread.WaitNone || o.Stack < l.Stack) {
		*l = o
	}
}

// LockSum is the sums of a lock.
type LockSum struct {
	LongestWait

	Blocked, Waited, Parked Sum
	Held                    Sum
	Holders                 Packed
	Handoffs                interaction.HandoffRuns[uint32]
	Queue                   uint32 // most threads blocked at once within the roll-up, whenever they began to be blocked
	Lock                    LockIndex
	Wanted                  bool // a thread waited for it, or received it
}

// Ref refers to an interval.
type Ref struct {
	block *Block
	lane  int32
	at    uint32
}

// Interval returns the interval.
func (r Ref) Interval() Interval {
	l := &r.block.lanes[r.lane]
	return r.block.interval(l, int(r.at), r.block.startOf(l, int(r.at)))
}

const (
	rollupIntervals = 1 << 17 // intervals of a roll-up, at least
	perThread       = 16      // intervals of a roll-up per thread of the session, at least, so that there are fewer sums than intervals
	rollupBytes     = 300     // without its lists, about
)

// Rollups sets the number of intervals per roll-up, for tests. It is called before sessions are opened.
func (st *Store) Rollups(intervals int) { st.rollup = intervals }

// rollUp returns a roll-up if there are enough intervals that are in none, otherwise nil.
func (s *Session) rollUp() *Rollup {
	s.loose += len(s.now.blocks[len(s.now.blocks)-1].state)
	if s.loose < max(s.store.rollup, perThread*(len(s.now.Threads)-len(s.freeThreads))) {
		return nil
	}
	s.loose = 0
	first := s.now.blocks[0].number
	if n := len(s.now.rollups); n > 0 {
		first = max(first, s.now.rollups[n-1].next)
	}
	return s.newRollup(s.now.blocks[first-s.now.blocks[0].number:])
}

// dropRollup drops the first roll-up if it contains a block. It returns its size.
func (s *Session) dropRollup(block uint64) int64 {
	if len(s.now.rollups) == 0 || s.now.rollups[0].first > block {
		return 0
	}
	size := s.now.rollups[0].size
	s.now.rollups = append([]*Rollup(nil), s.now.rollups[1:]...)
	return size
}

// Cover is consecutive roll-ups that lie within a range. Together, the roll-ups and what the Uncovered methods yield are the whole range.
type Cover struct {
	Rollups     []*Rollup
	first, next uint64 // numbers of their blocks
}

// Cover returns the roll-ups within a range that have the needed sums.
func (sn *Snapshot) Cover(from, to jvmthread.Time, has func(*Rollup) bool) Cover {
	within := func(c *Rollup) bool {
		return c.Start >= from && c.firstEnd > from && c.lastEnd <= to && c.lastStart < to && has(c)
	}
	i := slices.IndexFunc(sn.rollups, within)
	if i < 0 {
		return Cover{}
	}
	n := i + 1
	for n < len(sn.rollups) && within(sn.rollups[n]) && sn.rollups[n].Start == sn.rollups[n-1].End && sn.rollups[n].first == sn.rollups[n-1].next {
		n++
	}
	return Cover{sn.rollups[i:n], sn.rollups[i].first, sn.rollups[n-1].next}
}

// Outside yields the parts of a range before and after the roll-ups: all of it if there are none.
func (c *Cover) Outside(from, to jvmthread.Time, yield func(from, to jvmthread.Time)) {
	if n := len(c.Rollups); n > 0 {
		yield(from, c.Rollups[0].Start)
		from = c.Rollups[n-1].End
	}
	yield(from, to)
}

// Uncovered yields cursors over the intervals in [from, to) that are in no roll-up of the cover, one per thread; has selects threads by index.
// A cursor that is Early has a single interval that is in a roll-up but began before from: the time until then is to be subtracted.
func (sn *Snapshot) Uncovered(from, to jvmthread.Time, cover *Cover, has []bool, yield func(c *Cursor)) {
	var c Cursor // reused, since it is on the heap
	for _, r := range cover.Rollups {
		for _, k := range r.early {
			if l := &k.block.lanes[k.lane]; l.start < from && has[l.thread] {
				at := int(l.first)
				c = Cursor{Early: true, thread: int(l.thread), to: math.MaxInt64, block: k.block, lane: l, at: at - 1, stop: at + 1}
				yield(&c)
			}
		}
	}
	for i, ok := range has {
		if ok {
			c = sn.walk(i, from, to, [2]uint64{cover.first, cover.next})
			yield(&c)
		}
	}
}

// UncoveredHolds yields the holds that overlap [from, to) and are in no roll-up of the cover, and early ones as Uncovered does.
func (sn *Snapshot) UncoveredHolds(from, to jvmthread.Time, cover *Cover, yield func(h Hold, early bool)) {
	for _, r := range cover.Rollups {
		for _, h := range r.earlyHolds {
			if h.Start < from {
				yield(h, true)
			}
		}
	}
	sn.uncoveredHolds(from, to, cover, func(h Hold) bool {
		yield(h, false)
		return true
	})
}

// UncoveredEdges yields the interactions whose effect is in [from, to) and in no roll-up of the cover, and between them the roll-ups, in order.
func (sn *Snapshot) UncoveredEdges(from, to jvmthread.Time, cover *Cover, rollup func(*Rollup), yield func(Edge) bool) {
	if len(cover.Rollups) > 0 {
		sn.edges(from, to, 0, cover.first, yield)
		for _, r := range cover.Rollups {
			rollup(r)
		}
	}
	sn.edges(from, to, cover.next, math.MaxUint64, yield)
}
