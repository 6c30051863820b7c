// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Snapshot is a session as it was at one version. It does not change, and any goroutine may read it.
type Snapshot struct {
	ID      jvmthread.SessionID
	Meta    Meta
	Live    bool
	Ended   window.Cut
	Version uint64
	Origin  jvmthread.Time // of the first event of all
	From    jvmthread.Time // where what is remembered begins
	To      jvmthread.Time // where what is known ends

	Events, Lost, Missed uint64
	Evicted              int
	Bytes                int64
	Counts               Counts
	Locks                int // of which something is known
	Gaps                 []Gap
	Deadlocks            []Deadlock
	Threads              []Thread // 0 is none; those that are not Known are not there

	decoder   *zstd.Decoder
	blocks    []*Block
	rollups   []*Rollup
	classes   []string
	stacks    []string
	locks     []Lock
	open      map[uint32]Interval
	openHolds []Hold
	ids       map[jvmthread.ThreadID]int

	poolsOnce sync.Once
	pools     []string
}

// Snapshot returns the session as it is now. Until the session changes, all who ask get the same.
func (s *Session) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot != nil {
		return s.snapshot
	}
	sn := &Snapshot{
		ID: s.id, Meta: s.meta, Live: s.live, Ended: s.ended, Version: s.version, Origin: s.origin, From: s.origin, To: s.to,
		Events: s.events, Lost: s.lost, Missed: s.missed, Evicted: s.evicted, Bytes: s.bytes, Counts: s.counts, Locks: len(s.locks.ids),
		Gaps: slices.Clip(s.gaps), Deadlocks: slices.Clip(s.deadlocks), Threads: slices.Clone(s.threads),
		decoder: s.store.decoder, blocks: slices.Clone(s.blocks), rollups: slices.Clip(s.rollups), classes: s.classes.list, stacks: s.stacks.list, locks: s.locks.list,
		open: make(map[uint32]Interval, len(s.open)), ids: make(map[jvmthread.ThreadID]int, len(s.threadIDs)),
	}
	if s.evicted > 0 && len(s.blocks) > 0 {
		sn.From = s.blocks[0].Start
	}
	for id, iv := range s.open {
		iv.End = s.to
		sn.open[id] = iv
		sn.Threads[id].Last = s.to
	}
	for id, i := range s.threadIDs {
		sn.ids[id] = int(i)
	}
	sn.Counts.Intervals += len(sn.open)
	for _, h := range s.openHolds {
		sn.openHolds = append(sn.openHolds, h)
	}
	slices.SortFunc(sn.openHolds, func(a, b Hold) int { return int(a.Lock) - int(b.Lock) })
	s.snapshot = sn
	return sn
}

// Thread returns the index of a thread, or 0.
func (sn *Snapshot) Thread(id jvmthread.ThreadID) int { return sn.ids[id] }

// Class returns the name of the class of a lock.
func (sn *Snapshot) Class(l LockIndex) string { return sn.classes[sn.locks[l].Class] }

// ClassID returns a number for the class of a lock, the same for all locks of one class.
func (sn *Snapshot) ClassID(l LockIndex) uint32 { return sn.locks[l].Class }

// ClassName returns the name behind a ClassID.
func (sn *Snapshot) ClassName(id uint32) string { return sn.classes[id] }

// Hash returns the identity hash of a lock.
func (sn *Snapshot) Hash(l LockIndex) uint32 { return sn.locks[l].Hash }

// NumLocks is one more than the largest LockIndex.
func (sn *Snapshot) NumLocks() int { return len(sn.locks) }

// NumStacks is one more than the largest StackID.
func (sn *Snapshot) NumStacks() int { return len(sn.stacks) }

// Stack returns the text of a stack, one frame a line, innermost first.
func (sn *Snapshot) Stack(id StackID) string { return sn.stacks[id] }

// Began returns when the engine began that cut the window around a time: windows before that belong to another engine.
func (sn *Snapshot) Began(t jvmthread.Time) jvmthread.Time {
	i := sort.Search(len(sn.blocks), func(i int) bool { return sn.blocks[i].End > t })
	if i == len(sn.blocks) {
		i--
	}
	if i < 0 {
		return sn.Origin
	}
	return sn.blocks[i].Begin
}

// Cursor walks over the intervals of a thread that overlap a time range, in the order of time.
type Cursor struct {
	Start, End jvmthread.Time // of the interval
	State      jvmthread.State
	Marks      jvmthread.Marks

	thread int
	to     jvmthread.Time
	chunks []chunk
	lane   *lane
	block  *Block
	at     int // index of the interval, in the block
	stop   int
	open   Interval
	last   uint8

	skip [2]uint64 // numbers of blocks that are passed over, from one to before the other
}

const (
	openComes = iota
	openIsHere
	openIsOver
)

// Walk returns a cursor before the first interval of a thread that overlaps [from, to). An interval of no length is met if it is within it.
func (sn *Snapshot) Walk(thread int, from, to jvmthread.Time) Cursor {
	return sn.walk(thread, from, to, 0, 0)
}

// walk passes over the blocks with numbers in [first, next).
func (sn *Snapshot) walk(thread int, from, to jvmthread.Time, first, next uint64) Cursor {
	c := Cursor{thread: thread, to: to, last: openIsOver, skip: [2]uint64{first, next}}
	all := sn.Threads[thread].chunks
	i := sort.Search(len(all), func(i int) bool { return all[i].block.End >= from })
	c.chunks = all[i:]
	c.pass()
	if iv, ok := sn.open[uint32(thread)]; ok {
		c.open, c.last = iv, openComes
	}
	if len(c.chunks) > 0 {
		c.enter(from)
	}
	return c
}

// pass leaves out chunks of blocks that are to be passed over, if they come next.
func (c *Cursor) pass() {
	if len(c.chunks) > 0 && c.chunks[0].block.number >= c.skip[0] && c.chunks[0].block.number < c.skip[1] {
		c.chunks = c.chunks[searchChunk(c.chunks, c.skip[1]):]
	}
}

// enter goes to the first chunk that is left, before its first interval that ends behind a time or begins there.
func (c *Cursor) enter(from jvmthread.Time) {
	k := c.chunks[0]
	c.chunks = c.chunks[1:]
	c.block, c.lane = k.block, &k.block.lanes[k.lane]
	first, n := int(c.lane.first), k.block.laneLen(int(k.lane))
	c.stop = first + n
	c.at = first - 1
	if from > c.lane.start {
		b := c.block
		c.at += sort.Search(n, func(i int) bool {
			return b.Start+jvmthread.Time(b.end.at(first+i)) > from || b.startOf(c.lane, first+i) >= from
		})
	}
	c.End = c.block.startOf(c.lane, c.at+1)
}

// Next goes on to the next interval. It returns false behind the last one.
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
				c.block, c.last = nil, openIsOver
				return false
			}
			c.End = b.Start + jvmthread.Time(b.end.at(c.at))
			c.State, c.Marks = b.state[c.at], b.marks[c.at]
			return true
		}
		c.pass()
		if len(c.chunks) == 0 {
			c.block = nil
			break
		}
		c.enter(c.End)
	}
	if c.last == openComes && c.open.Start < c.to {
		c.last = openIsHere
		c.Start, c.End, c.State, c.Marks = c.open.Start, c.open.End, c.open.State, c.open.Marks
		return true
	}
	c.last = openIsOver
	return false
}

// Interval returns all of the interval at which the cursor stands.
func (c *Cursor) Interval() Interval {
	if c.last == openIsHere {
		return c.open
	}
	return c.block.interval(c.lane, c.at, c.Start)
}

// Thread is the index of the thread.
func (c *Cursor) Thread() int { return c.thread }

// As is the state that a wait counts as: a deadlock goes on with what it was before.
func (c *Cursor) As() jvmthread.State {
	if c.State != jvmthread.StateDeadlocked {
		return c.State
	}
	iv := c.Interval()
	return iv.As()
}

// Lock returns what the interval is about.
func (c *Cursor) Lock() LockIndex {
	if c.last == openIsHere {
		return c.open.Lock
	}
	return LockIndex(c.block.lock[c.at])
}

// Stack returns where it began.
func (c *Cursor) Stack() StackID {
	if c.last == openIsHere {
		return c.open.Stack
	}
	return StackID(c.block.stack[c.at])
}
