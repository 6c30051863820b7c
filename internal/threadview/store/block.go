// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Block is one window: the intervals and holds that ended in it, and the interactions whose effect was in it. It does not change.
//
// Times are 32-bit offsets from Start (4.29 s). The few that do not fit are kept separately.
type Block struct {
	Start, End jvmthread.Time
	Begin      jvmthread.Time // when the engine that cut it began

	open         bool           // its intervals and holds have not ended: the last block of a snapshot
	number       uint64         // of the block in its session
	firstCause   jvmthread.Time // of its interactions
	firstHold    jvmthread.Time // start of its earliest hold
	firstRequest jvmthread.Time // start of its earliest part of a request
	lanes        []lane         // plus one that marks the end of the last

	// Intervals, by lane and time.
	end      []uint32
	state    []jvmthread.State
	marks    []jvmthread.Marks
	wait     []jvmthread.Wait
	peer     []uint32 // index of a thread
	lock     []uint32 // index of a lock
	stack    []uint32 // id of a stack
	ends     sparse
	timeouts sparse
	cycles   sparse

	interactions       []edge // by effect
	effects, latencies sparse
	holds              []hold // by end
	holdEnds, lengths  sparse
	requests           []requestPart
	usages             []usage // by thread and time
	raw                rawLog
}

// lane is the intervals of one thread in a block.
type lane struct {
	start  jvmthread.Time // of its first interval, which may be long before the block
	thread uint32
	first  uint32        // index of its first interval
	seq    jvmthread.Seq // of its first interval; the others follow
}

type edge struct {
	effect, latency uint32
	from, to        uint32 // indices of threads
	fromSeq, toSeq  jvmthread.Seq
	lock, stack     uint32
	kind            jvmthread.InteractionKind
	confidence      jvmthread.Confidence
}

type hold struct {
	end, length  uint32
	lock, thread uint32
	marks        jvmthread.HoldMarks
}

// sparse is a column in which most values are missing.
type sparse struct {
	index []uint32
	value []int64
}

func (s *sparse) add(i int, v int64) {
	s.index = append(s.index, uint32(i))
	s.value = append(s.value, v)
}

func (s *sparse) at(i int) int64 {
	if at, ok := slices.BinarySearch(s.index, uint32(i)); ok {
		return s.value[at]
	}
	return 0
}

// shorten returns a time at an index in 32 bits: MaxUint32 if it does not fit and was added to the column.
func (s *sparse) shorten(i int, v jvmthread.Time) uint32 {
	if v >= 0 && v < math.MaxUint32 {
		return uint32(v)
	}
	s.add(i, int64(v))
	return math.MaxUint32
}

// expand reverses shorten.
func (s *sparse) expand(i int, v uint32) jvmthread.Time {
	if v != math.MaxUint32 {
		return jvmthread.Time(v)
	}
	return jvmthread.Time(s.at(i))
}

const (
	blockBytes = 832 // of a Block without its columns, about
	laneBytes  = 24 + 16
)

func (b *Block) sparse() []*sparse {
	return []*sparse{&b.ends, &b.timeouts, &b.cycles, &b.effects, &b.latencies, &b.holdEnds, &b.lengths}
}

func (b *Block) size() int64 {
	const perInterval = 4 + 1 + 1 + 1 + 3*4
	n := blockBytes + len(b.lanes)*laneBytes + len(b.state)*perInterval + len(b.interactions)*int(unsafe.Sizeof(edge{})) +
		len(b.holds)*int(unsafe.Sizeof(hold{})) + len(b.requests)*int(requestBytes) +
		len(b.usages)*usageBytes + len(b.raw.data)
	for _, s := range b.sparse() {
		n += 12 * len(s.index)
	}
	return int64(n)
}

// empty reports whether nothing ended in the window. Threads that wait all through it are in no block until they go on.
func (b *Block) empty() bool {
	return len(b.state)+len(b.interactions)+len(b.holds)+len(b.requests)+len(b.usages)+len(b.raw.data) == 0
}

// finish notes what lets a search skip the block, and shortens the columns to their lengths, since blocks are long-lived.
func (b *Block) finish() {
	b.firstCause, b.firstHold = math.MaxInt64, math.MaxInt64
	for i := range b.interactions {
		b.firstCause = min(b.firstCause, b.edge(i).Cause)
	}
	for i := range b.holds {
		b.firstHold = min(b.firstHold, b.hold(i).Start)
	}
	b.finishRequests()
	b.lanes, b.interactions, b.holds, b.usages = exact(b.lanes), exact(b.interactions), exact(b.holds), exact(b.usages)
	b.end, b.state, b.marks, b.wait = exact(b.end), exact(b.state), exact(b.marks), exact(b.wait)
	b.peer, b.lock, b.stack = exact(b.peer), exact(b.lock), exact(b.stack)
	for _, s := range b.sparse() {
		s.index, s.value = exact(s.index), exact(s.value)
	}
}

func exact[T any](list []T) []T {
	if cap(list) == len(list) {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}

// laneLen is the number of intervals of a lane.
func (b *Block) laneLen(i int) int { return int(b.lanes[i+1].first - b.lanes[i].first) }

func (b *Block) add(iv *Interval) {
	i := len(b.state)
	b.end = append(b.end, b.ends.shorten(i, iv.End-b.Start))
	b.state = append(b.state, iv.State)
	b.marks = append(b.marks, iv.Marks)
	b.wait = append(b.wait, iv.Wait)
	b.peer = append(b.peer, uint32(iv.Peer))
	b.lock = append(b.lock, uint32(iv.Lock))
	b.stack = append(b.stack, uint32(iv.Stack))
	if iv.Timeout != 0 {
		b.timeouts.add(i, iv.Timeout)
	}
	if iv.Cycle != 0 {
		b.cycles.add(i, int64(iv.Cycle))
	}
}

func (b *Block) addHold(h Hold) {
	i := len(b.holds)
	b.holds = append(b.holds, hold{
		end: b.holdEnds.shorten(i, h.End-b.Start), length: b.lengths.shorten(i, h.End-h.Start), lock: uint32(h.Lock), thread: uint32(h.Thread), marks: h.Marks,
	})
}

// endAt is the end of the interval at an index. It can be inlined, unlike expand with anything around it.
func (b *Block) endAt(i int) jvmthread.Time {
	if v := b.end[i]; v != math.MaxUint32 {
		return b.Start + jvmthread.Time(v)
	}
	return b.longEnd(i)
}

//go:noinline
func (b *Block) longEnd(i int) jvmthread.Time { return b.Start + jvmthread.Time(b.ends.at(i)) }

// startOf is the start of the interval at an index of a lane.
func (b *Block) startOf(l *lane, i int) jvmthread.Time {
	if i == int(l.first) {
		return l.start
	}
	return b.endAt(i - 1)
}

// interval reads an interval of a lane, given its start.
func (b *Block) interval(l *lane, i int, start jvmthread.Time) Interval {
	iv := Interval{
		Start: start, End: b.endAt(i), Thread: int(l.thread), Peer: int(b.peer[i]), Lock: LockIndex(b.lock[i]),
		Stack: StackID(b.stack[i]), Seq: l.seq + jvmthread.Seq(i) - jvmthread.Seq(l.first), State: b.state[i], Marks: b.marks[i],
		Wait: b.wait[i],
	}
	if len(b.timeouts.index) > 0 {
		iv.Timeout = b.timeouts.at(i)
	}
	if len(b.cycles.index) > 0 {
		iv.Cycle = jvmthread.Cycle(b.cycles.at(i))
	}
	return iv
}

// effectAt is the effect of the interaction at an index.
func (b *Block) effectAt(i int) jvmthread.Time {
	return b.Start + b.effects.expand(i, b.interactions[i].effect)
}

func (b *Block) edge(i int) Edge {
	e, effect := &b.interactions[i], b.effectAt(i)
	return Edge{
		Cause: effect - b.latencies.expand(i, e.latency), Effect: effect, From: int(e.from), To: int(e.to),
		FromSeq: e.fromSeq, ToSeq: e.toSeq, Lock: LockIndex(e.lock), Stack: StackID(e.stack), Kind: e.kind, Confidence: e.confidence,
	}
}

// holdEnd is the end of the hold at an index.
func (b *Block) holdEnd(i int) jvmthread.Time { return b.Start + b.holdEnds.expand(i, b.holds[i].end) }

func (b *Block) hold(i int) Hold {
	h, end := &b.holds[i], b.holdEnd(i)
	return Hold{Start: end - b.lengths.expand(i, h.length), End: end, Lock: LockIndex(h.lock), Thread: int(h.thread), Marks: h.marks}
}
