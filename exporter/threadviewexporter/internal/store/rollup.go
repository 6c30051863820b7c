// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"
	"sort"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store/sums"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Rollup is some blocks in a row, and what they add up to: so that a range of millions of intervals need not be looked through. It does not
// change, and leaves with the first of its blocks.
type Rollup struct {
	Start, End jvmthread.Time
	Threads    []ThreadSum
	Waits      []WaitSum // nil: they are about as many as intervals
	Locks      []LockSum // nil: they are about as many as intervals

	first, next uint64  // numbers of its blocks: [first, next)
	early       []chunk // lanes whose first interval began before the rollup
	earlyHolds  []Hold  // that began before the rollup
	bounds      bounds
	size        int64
}

// ThreadSum is a thread in a state.
type ThreadSum struct {
	Time   int64
	Thread uint32
	Count  uint32
	State  jvmthread.State
	Parked bool // the thread is deadlocked, and was parked before
}

// WaitSum is the waits of a kind at a place for locks of a class.
type WaitSum struct {
	sums.Tally

	Locks, Threads sums.Packed
	Longest        Ref
	Class          uint32
	Stack          StackID
	State          jvmthread.State // as Interval.As says it
}

// Sum is how many there are, and for how long.
type Sum struct{ Count, Time int64 }

// LockSum is what is known of a lock.
type LockSum struct {
	Blocked, Waited, Parked Sum
	Held                    Sum
	Holders                 sums.Packed
	Handoffs                interaction.HandoffRuns[uint32]
	Queue                   uint32 // most threads that were blocked at one time within [Start, End) of the rollup, whenever they began to be
	Lock                    LockIndex
	Wanted                  bool // a thread waited for it, or got it handed on
}

// Ref leads to an interval.
type Ref struct {
	block *Block
	lane  int32
	at    uint32
}

// bounds say whether a range holds all of a rollup: nothing of it may have ended before, or begin behind.
type bounds struct {
	firstEnd  jvmthread.Time // of intervals and holds that began before the rollup
	lastStart jvmthread.Time // of intervals, and of effects
	lastEnd   jvmthread.Time // of intervals and holds
}

const (
	rollupIntervals = 1 << 17 // of a rollup, at least
	perThread       = 16      // intervals of a rollup for each thread of its session, at least: sums by thread are to be fewer
	rollupBytes     = 300     // without its lists, about
)

// Rollups sets how many intervals are added up beforehand, for tests. It is called before sessions are opened.
func (st *Store) Rollups(intervals int) { st.rollup = intervals }

// addUp closes a rollup, if there are enough intervals that are in none.
func (s *Session) addUp() int64 {
	s.loose += len(s.blocks[len(s.blocks)-1].state)
	if s.loose < max(s.store.rollup, perThread*(len(s.threads)-len(s.freeThreads))) {
		return 0
	}
	s.loose = 0
	first := s.blocks[0].number
	if n := len(s.rollups); n > 0 {
		first = max(first, s.rollups[n-1].next)
	}
	c := s.newRollup(s.blocks[first-s.blocks[0].number:])
	s.rollups = append(s.rollups, c)
	return c.size
}

// dropRollup forgets the first rollup, if a block was its.
func (s *Session) dropRollup(block uint64) int64 {
	if len(s.rollups) == 0 || s.rollups[0].first > block {
		return 0
	}
	size := s.rollups[0].size
	s.rollups = append([]*Rollup(nil), s.rollups[1:]...)
	return size
}

// Cover is the part of a range that rollups in a row make up.
type Cover struct {
	Rollups     []*Rollup
	first, next uint64 // numbers of their blocks
}

// Start and End are the time that the rollups make up; zero if there is none.
func (c *Cover) Start() jvmthread.Time { return c.Rollups[0].Start }

// End is where the last rollup ends.
func (c *Cover) End() jvmthread.Time { return c.Rollups[len(c.Rollups)-1].End }

// Cover returns rollups that lie within a range and have what is needed. What is left is to be looked through: see Beside.
func (sn *Snapshot) Cover(from, to jvmthread.Time, has func(*Rollup) bool) Cover {
	within := func(c *Rollup) bool {
		b := &c.bounds
		return c.Start >= from && b.firstEnd > from && b.lastEnd <= to && b.lastStart < to && has(c)
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

// Beside returns a cursor as Walk does, which passes over what is in the rollups.
func (sn *Snapshot) Beside(thread int, from, to jvmthread.Time, cover *Cover) Cursor {
	if len(cover.Rollups) == 0 {
		return sn.Walk(thread, from, to)
	}
	return sn.walk(thread, from, to, cover.first, cover.next)
}

// Early yields the intervals of a rollup that began before a time which is not later than the rollup.
func (c *Rollup) Early(before jvmthread.Time, yield func(iv *Interval)) {
	for _, k := range c.early {
		l := &k.block.lanes[k.lane]
		if l.start < before {
			iv := k.block.interval(l, int(l.first), l.start)
			yield(&iv)
		}
	}
}

// EarlyHolds yields the holds of a rollup that began before a time which is not later than the rollup.
func (c *Rollup) EarlyHolds(before jvmthread.Time, yield func(h *Hold)) {
	for i := range c.earlyHolds {
		if c.earlyHolds[i].Start < before {
			yield(&c.earlyHolds[i])
		}
	}
}

// Interval is the interval that it leads to.
func (r Ref) Interval() Interval {
	l := &r.block.lanes[r.lane]
	return r.block.interval(l, int(r.at), r.block.startOf(l, int(r.at)))
}

// As is the state that a wait counts as: a deadlock goes on with what it was before.
func (iv *Interval) As() jvmthread.State {
	switch {
	case iv.State != jvmthread.StateDeadlocked:
		return iv.State
	case iv.Parked:
		return jvmthread.StateParked
	}
	return jvmthread.StateBlocked
}

func searchChunk(all []chunk, number uint64) int {
	return sort.Search(len(all), func(i int) bool { return all[i].block.number >= number })
}

var noBounds = bounds{firstEnd: math.MaxInt64, lastStart: math.MinInt64, lastEnd: math.MinInt64} //nolint:gochecknoglobals // read-only
