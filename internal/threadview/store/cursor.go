// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Cursor walks over the intervals of a thread that overlap a time range, in the order of time.
type Cursor struct {
	Start, End jvmthread.Time // of the interval
	State      jvmthread.State
	Marks      jvmthread.Marks
	Early      bool // see Snapshot.Uncovered

	thread int
	to     jvmthread.Time
	chunks []chunk // that come next
	open   chunk   // that comes after them, if it has a block
	lane   *lane
	block  *Block // nil: after the last interval
	at     int    // index of the interval in the block
	stop   int

	skip [2]uint64 // numbers of blocks to skip: [first, next)
}

// Walk returns a cursor before the first interval of a thread that overlaps [from, to). Empty intervals within the range are included.
func (sn *Snapshot) Walk(thread int, from, to jvmthread.Time) Cursor {
	return sn.walk(thread, from, to, [2]uint64{})
}

func (sn *Snapshot) walk(thread int, from, to jvmthread.Time, skip [2]uint64) Cursor {
	t := &sn.Threads[thread]
	c := Cursor{thread: thread, to: to, open: t.open, skip: skip}
	c.chunks = t.chunks[sort.Search(len(t.chunks), func(i int) bool { return t.chunks[i].block.End >= from }):]
	c.enter(from)
	return c
}

// pass drops the next chunks if their blocks are to be skipped.
func (c *Cursor) pass() {
	if len(c.chunks) > 0 && c.chunks[0].block.number >= c.skip[0] && c.chunks[0].block.number < c.skip[1] {
		all := c.chunks
		c.chunks = all[sort.Search(len(all), func(i int) bool { return all[i].block.number >= c.skip[1] }):]
	}
}

// enter moves to the next chunk, before its first interval that ends after a time or begins at it or later. An open interval has no end.
func (c *Cursor) enter(from jvmthread.Time) {
	c.pass()
	k := c.open
	if len(c.chunks) > 0 {
		k, c.chunks = c.chunks[0], c.chunks[1:]
	} else {
		c.open = chunk{}
	}
	c.block = k.block
	if c.block == nil {
		return
	}
	c.lane = &k.block.lanes[k.lane]
	first, n := int(c.lane.first), k.block.laneLen(int(k.lane))
	c.stop = first + n
	c.at = first - 1
	if from > c.lane.start && !c.block.open {
		b := c.block
		c.at += sort.Search(n, func(i int) bool { return b.endAt(first+i) > from || b.startOf(c.lane, first+i) >= from })
	}
	c.End = c.block.startOf(c.lane, c.at+1)
}

// Next moves to the next interval. It returns false after the last one.
func (c *Cursor) Next() bool {
	for c.block != nil {
		c.at++
		if c.at < c.stop {
			b := c.block
			if c.at == int(c.lane.first) {
				c.Start = c.lane.start
			} else {
				c.Start = c.End
			}
			if c.Start >= c.to {
				c.block = nil
				return false
			}
			c.End = b.endAt(c.at)
			c.State, c.Marks = b.state[c.at], b.marks[c.at]
			return true
		}
		c.enter(c.End)
	}
	return false
}

// Interval returns the current interval.
func (c *Cursor) Interval() Interval { return c.block.interval(c.lane, c.at, c.Start) }

// Seq is the number of the interval within its thread.
func (c *Cursor) Seq() jvmthread.Seq {
	return c.lane.seq + jvmthread.Seq(c.at) - jvmthread.Seq(c.lane.first)
}

// Thread is the index of the thread.
func (c *Cursor) Thread() int { return c.thread }

// Wait is what the thread waits for.
func (c *Cursor) Wait() jvmthread.Wait { return c.block.wait[c.at] }

// Waited is the length of the wait up to the end of the interval, see Interval.Waited.
func (c *Cursor) Waited() jvmthread.Time {
	if c.Marks.Has(jvmthread.MarkContinues) {
		iv := c.Interval()
		return iv.Waited()
	}
	return c.End - c.Start
}

// As is the state that a wait is counted under, see Interval.As.
func (c *Cursor) As() jvmthread.State { return as(c.State, c.Wait()) }

// Shown is the state in whose color the interval is painted.
func (c *Cursor) Shown() jvmthread.State { return shown(c.State, c.Wait()) }

// Lock returns the lock of the interval.
func (c *Cursor) Lock() LockIndex { return LockIndex(c.block.lock[c.at]) }

// Stack returns where the interval began.
func (c *Cursor) Stack() StackID { return StackID(c.block.stack[c.at]) }

// Sweep yields the intervals of threads that overlap [from, to), block by block as they are in memory, those of a thread in the order of time.
// has selects threads by index. The cursor is valid until yield returns.
func (sn *Snapshot) Sweep(from, to jvmthread.Time, has []bool, yield func(c *Cursor)) {
	var c Cursor
	for _, b := range sn.blocksFrom(from) {
		c.block = b
		for i := range len(b.lanes) - 1 {
			l := &b.lanes[i]
			if l.start >= to || !has[l.thread] {
				continue
			}
			c.lane, c.thread, c.End = l, int(l.thread), l.start
			for c.at = int(l.first); c.at < int(b.lanes[i+1].first) && c.End < to; c.at++ {
				c.Start, c.End = c.End, b.endAt(c.at)
				if c.End > from || c.Start >= from {
					c.State, c.Marks = b.state[c.at], b.marks[c.at]
					yield(&c)
				}
			}
		}
	}
}

// Density returns how long threads were in each state as shown, in each step of a range: by state and step, in ns; empty for states that do
// not occur.
// has selects threads by index.
func (sn *Snapshot) Density(from, to, step jvmthread.Time, has []bool) [][]int64 {
	group := make([]int32, len(has))
	for i, ok := range has {
		if !ok {
			group[i] = NoGroup
		}
	}
	return sn.Densities(from, to, step, group, 1)[0]
}

// Densities returns the Density of each of n groups of threads, in one pass. group has the group of each thread by index, or NoGroup.
func (sn *Snapshot) Densities(from, to, step jvmthread.Time, group []int32, n int) [][][]int64 {
	d := density{from: from, to: to, step: step, steps: int((to - from + step - 1) / step)}
	all := make([]stateTimes, n)
	for _, b := range sn.blocksFrom(from) {
		for i := range len(b.lanes) - 1 {
			if l := &b.lanes[i]; l.start < to && group[l.thread] != NoGroup { // also in blocks after the range, where a first interval may begin in it
				d.time = &all[group[l.thread]]
				d.lane(b, l.start, int(l.first), int(b.lanes[i+1].first))
			}
		}
	}
	out := make([][][]int64, n)
	for g := range all {
		out[g] = make([][]int64, len(all[g]))
		for s, list := range all[g] {
			if out[g][s] = list; list == nil {
				out[g][s] = []int64{}
			}
		}
	}
	return out
}

// stateTimes are times by state and step; nil for states that do not occur.
type stateTimes [NumShown][]int64

type density struct {
	from, to, step jvmthread.Time
	steps          int
	time           *stateTimes    // of the current group
	at             int            // current step
	next           jvmthread.Time // where it ends
}

// enter moves to the step of a time.
func (d *density) enter(t jvmthread.Time) {
	d.at = int(max(0, t-d.from) / d.step)
	d.next = d.from + jvmthread.Time(d.at+1)*d.step
}

// lane adds the intervals of a lane, each of which begins where the previous one ends.
func (d *density) lane(b *Block, start jvmthread.Time, first, stop int) {
	d.enter(start)
	for i := first; i < stop && start < d.to; i++ {
		end := b.endAt(i)
		d.add(shown(b.state[i], b.wait[i]), start, end)
		start = end
	}
}

// add adds an interval that does not begin before the current step.
func (d *density) add(state jvmthread.State, start, end jvmthread.Time) {
	start, end = max(start, d.from), min(end, d.to)
	list := d.time[state]
	if list == nil && start < end {
		list = make([]int64, d.steps)
		d.time[state] = list
	}
	for start < end {
		if start >= d.next {
			d.enter(start)
		}
		stop := min(end, d.next)
		list[d.at] += int64(stop - start)
		start = stop
	}
}
