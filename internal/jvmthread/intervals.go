// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import (
	"cmp"
	"iter"
	"slices"
	"unsafe"
)

// Intervals are intervals of one thread, in order. They take 40 bytes each, an Interval has 64: the thread is the same, and the start and the
// number of almost all follow from the interval before. The zero value is empty.
type Intervals struct {
	head   []piece // the first blockLength
	odd    *odd    // nil: none
	thread ThreadID
	start  Time // of the first interval
	end    Time // of the last one
	first  Seq  // number of the first one
	n      int32
	blocks [][]piece // the intervals after the head; few lists have any, so it follows the 64 bytes that an append accesses
}

// odd is what few lists have.
type odd struct {
	breaks []brk
	cycles []cycleAt
}

// blockLength is the number of intervals beyond which a list grows by blocks. An append that copies all of them whenever it has to grow by a
// quarter would touch five times the memory.
const blockLength = 1024

// piece is an interval without what its list states.
type piece struct {
	end     Time
	peer    ThreadID
	timeout int64
	lock    LockID
	stack   StackID
	state   State
	marks   Marks
	was     State
	wait    Wait
}

// IntervalSize is the size in bytes of an interval in a list.
const IntervalSize = int(unsafe.Sizeof(piece{}))

// brk is an interval that does not begin where the one before ends, or does not have the next number.
type brk struct {
	index int
	start Time
	seq   Seq
}

// cycleAt is the deadlock of an interval.
type cycleAt struct {
	index int
	cycle Cycle
}

// IntervalsOf returns a list of intervals of one thread.
func IntervalsOf(list ...Interval) (l Intervals) {
	for i := range list {
		l.Append(&list[i])
	}
	return l
}

// Append adds the next interval. All must be of the same thread.
func (l *Intervals) Append(iv *Interval) {
	n := int(l.n)
	if n == 0 {
		l.thread, l.start, l.first = iv.Thread, iv.Start, iv.Seq
	} else if iv.Start != l.end || iv.Seq != l.Seq(n-1)+1 {
		o := l.needOdd()
		o.breaks = append(o.breaks, brk{n, iv.Start, iv.Seq})
	}
	if iv.Cycle != 0 {
		o := l.needOdd()
		o.cycles = append(o.cycles, cycleAt{n, iv.Cycle})
	}
	l.end = iv.End
	p := l.extend() // field by field: CPUs stall when they copy what was just written in parts
	p.end, p.peer, p.timeout, p.lock, p.stack = iv.End, iv.Peer, iv.Timeout, iv.Lock, iv.Stack
	p.state, p.marks, p.was, p.wait = iv.State, iv.Marks, iv.Was, iv.Wait
}

func (l *Intervals) needOdd() *odd {
	if l.odd == nil {
		l.odd = new(odd)
	}
	return l.odd
}

// extend returns the place of the next interval.
func (l *Intervals) extend() *piece {
	n := int(l.n)
	l.n++
	if n < blockLength {
		if n == len(l.head) {
			l.head = slices.Grow(l.head, 1)
			l.head = l.head[:min(cap(l.head), blockLength)]
		}
		return &l.head[n]
	}
	if n/blockLength > len(l.blocks) {
		l.blocks = append(l.blocks, make([]piece, blockLength))
	}
	return l.at(n)
}

func (l *Intervals) at(i int) *piece {
	if i < blockLength {
		return &l.head[i]
	}
	return &l.blocks[uint(i)/blockLength-1][uint(i)%blockLength]
}

// Len returns the number of intervals.
func (l *Intervals) Len() int { return int(l.n) }

// Cap returns the number of intervals for which there is memory.
func (l *Intervals) Cap() int { return len(l.head) + len(l.blocks)*blockLength }

// Reset removes all intervals. It keeps the memory that was used, for the next ones.
func (l *Intervals) Reset() {
	if int(l.n) < len(l.head)/2 && len(l.head) > 64 {
		l.head = nil
	}
	used := (max(int(l.n), blockLength) - 1) / blockLength
	clear(l.blocks[used:])
	*l = Intervals{head: l.head, blocks: l.blocks[:used]}
}

// Contiguous reports whether each interval begins where the one before ends, and has the next number.
func (l *Intervals) Contiguous() bool { return l.odd == nil || len(l.odd.breaks) == 0 }

// At returns an interval.
func (l *Intervals) At(i int) (iv Interval) {
	l.Read(i, &iv)
	return iv
}

// Read sets iv to an interval. It is faster than At.
func (l *Intervals) Read(i int, iv *Interval) {
	p := l.at(i)
	iv.Start, iv.Seq, iv.Cycle = l.Start(i), l.Seq(i), 0
	iv.End, iv.Thread, iv.Peer, iv.Timeout, iv.Lock, iv.Stack = p.end, l.thread, p.peer, p.timeout, p.lock, p.stack
	iv.State, iv.Marks, iv.Was, iv.Wait = p.state, p.marks, p.was, p.wait
	if l.odd != nil {
		iv.Cycle = l.odd.cycle(i)
	}
}

// All yields the intervals and their indices.
func (l *Intervals) All() iter.Seq2[int, Interval] {
	return func(yield func(int, Interval) bool) {
		for i := range l.Len() {
			if !yield(i, l.At(i)) {
				return
			}
		}
	}
}

// End returns the end of an interval.
func (l *Intervals) End(i int) Time { return l.at(i).end }

// State returns the state of an interval.
func (l *Intervals) State(i int) State { return l.at(i).state }

// Peer returns the peer of an interval.
func (l *Intervals) Peer(i int) ThreadID { return l.at(i).peer }

// Wait returns what the thread waits for in an interval.
func (l *Intervals) Wait(i int) Wait { return l.at(i).wait }

// Stack returns the stack of an interval.
func (l *Intervals) Stack(i int) StackID { return l.at(i).stack }

// Began returns when the wait began of which an interval is a part.
func (l *Intervals) Began(i int) Time {
	iv := Interval{Start: l.Start(i), Marks: l.at(i).marks, Timeout: l.at(i).timeout}
	return iv.Began()
}

// Lock returns the lock of an interval.
func (l *Intervals) Lock(i int) LockID { return l.at(i).lock }

// Start returns the start of an interval.
func (l *Intervals) Start(i int) Time {
	if i > 0 && l.odd == nil {
		return l.at(i - 1).end
	}
	return l.startOf(i)
}

func (l *Intervals) startOf(i int) Time {
	if i == 0 {
		return l.start
	}
	if b := l.odd.lastBreak(i); b != nil && b.index == i {
		return b.start
	}
	return l.End(i - 1)
}

// Seq returns the number of an interval.
func (l *Intervals) Seq(i int) Seq {
	if l.odd == nil {
		return l.first + Seq(i)
	}
	return l.seqOf(i)
}

func (l *Intervals) seqOf(i int) Seq {
	if b := l.odd.lastBreak(i); b != nil {
		return b.seq + Seq(i-b.index)
	}
	return l.first + Seq(i)
}

// lastBreak returns the last break that is not after an interval, or nil.
func (o *odd) lastBreak(i int) *brk {
	if len(o.breaks) == 0 {
		return nil
	}
	at, ok := slices.BinarySearchFunc(o.breaks, i, func(b brk, i int) int { return cmp.Compare(b.index, i) })
	if !ok {
		at--
	}
	if at < 0 {
		return nil
	}
	return &o.breaks[at]
}

// cycle returns the deadlock of an interval, or 0.
func (o *odd) cycle(i int) Cycle {
	if len(o.cycles) == 0 {
		return 0
	}
	at, ok := slices.BinarySearchFunc(o.cycles, i, func(c cycleAt, i int) int { return cmp.Compare(c.index, i) })
	if !ok {
		return 0
	}
	return o.cycles[at].cycle
}

// Index returns the index of the interval with a number, or -1. It is only valid for intervals with consecutive numbers.
func (l *Intervals) Index(seq Seq) int {
	if seq < l.first || int64(seq-l.first) >= int64(l.n) {
		return -1
	}
	return int(seq - l.first)
}
