// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"sort"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Block is what is kept of one window: of the intervals that ended in it, the interactions whose effect and the holds whose end was in it.
// It does not change.
//
// Times are offsets from Start that fit 32 bits: 4.29 s. The few that do not are in a list of their own.
type Block struct {
	Start, End   jvmthread.Time
	Cut          window.Cut
	Begin        jvmthread.Time // when the engine began that cut it
	Events       uint64
	Lost, Missed uint64

	number     uint64         // of the block in its session
	firstCause jvmthread.Time // of its interactions
	firstHold  jvmthread.Time // start of the earliest of its holds
	lanes      []lane         // and one more, which says where the last one ends

	// Intervals, by lane and time.
	end      offsets
	state    []jvmthread.State
	marks    []jvmthread.Marks
	peer     []uint32 // index of a thread
	lock     []uint32 // index of a lock
	stack    []uint32 // id of a stack
	timeouts sparse
	cycles   sparse // twice the number, and one more if the thread was parked before

	interactions edges
	holds        tenures
	raw          rawLog
}

// lane is the intervals of one thread in a block.
type lane struct {
	start  jvmthread.Time // of its first interval, which may be long before the block's
	thread uint32
	first  uint32        // index of its first interval
	seq    jvmthread.Seq // of its first interval; the others follow
}

// offsets are times or durations of 32 bits, with the few that are larger beside them.
type offsets struct {
	small []uint32
	large sparse
}

func (o *offsets) add(v int64) {
	if v < 0 || v >= math.MaxUint32 {
		o.large.add(len(o.small), v)
		v = math.MaxUint32
	}
	o.small = append(o.small, uint32(v))
}

func (o *offsets) at(i int) int64 {
	if v := o.small[i]; v != math.MaxUint32 {
		return int64(v)
	}
	return o.large.at(i)
}

func (o *offsets) bytes() int64 { return 4*int64(len(o.small)) + o.large.bytes() }

// sparse is a column most of whose values are zero.
type sparse struct {
	index []uint32
	value []int64
}

func (s *sparse) add(i int, v int64) {
	s.index = append(s.index, uint32(i))
	s.value = append(s.value, v)
}

func (s *sparse) at(i int) int64 {
	at := sort.Search(len(s.index), func(k int) bool { return int(s.index[k]) >= i })
	if at < len(s.index) && int(s.index[at]) == i {
		return s.value[at]
	}
	return 0
}

func (s *sparse) bytes() int64 { return 12 * int64(len(s.index)) }

// edges are interactions, in the order of their effects.
type edges struct {
	effect     offsets
	latency    offsets
	from, to   []uint32 // index of a thread
	fromSeq    []jvmthread.Seq
	toSeq      []jvmthread.Seq
	lock       []uint32
	stack      []uint32
	kind       []jvmthread.InteractionKind
	confidence []jvmthread.Confidence
}

func (e *edges) len() int { return len(e.kind) }

func (e *edges) bytes() int64 {
	return e.effect.bytes() + e.latency.bytes() + int64(e.len())*(6*4+2)
}

// tenures are holds, in the order of their ends.
type tenures struct {
	end    offsets
	length offsets
	lock   []uint32
	thread []uint32
	marks  []jvmthread.HoldMarks
}

func (t *tenures) len() int { return len(t.marks) }

func (t *tenures) bytes() int64 { return t.end.bytes() + t.length.bytes() + int64(t.len())*(2*4+1) }

const (
	blockBytes = 800 // of a Block without its columns, about
	laneBytes  = 24
	chunkBytes = 16
)

func (b *Block) size() int64 {
	n := int64(len(b.state))
	return blockBytes + int64(len(b.lanes))*(laneBytes+chunkBytes) + b.end.bytes() + n*(1+1+3*4) + b.timeouts.bytes() + b.cycles.bytes() +
		b.interactions.bytes() + b.holds.bytes() + int64(len(b.raw.data))
}

// clip makes the columns as long as they need to be: a block lives long.
func (b *Block) clip() {
	b.note()
	b.end.clip()
	b.timeouts.clip()
	b.cycles.clip()
	b.lanes = exact(b.lanes)
	b.state, b.marks = exact(b.state), exact(b.marks)
	b.peer, b.lock, b.stack = exact(b.peer), exact(b.lock), exact(b.stack)
	e := &b.interactions
	e.effect.clip()
	e.latency.clip()
	e.from, e.to, e.lock, e.stack = exact(e.from), exact(e.to), exact(e.lock), exact(e.stack)
	e.fromSeq, e.toSeq = exact(e.fromSeq), exact(e.toSeq)
	e.kind, e.confidence = exact(e.kind), exact(e.confidence)
	t := &b.holds
	t.end.clip()
	t.length.clip()
	t.lock, t.thread, t.marks = exact(t.lock), exact(t.thread), exact(t.marks)
}

func (o *offsets) clip() {
	o.small = exact(o.small)
	o.large.clip()
}

func (s *sparse) clip() { s.index, s.value = exact(s.index), exact(s.value) }

func exact[T any](list []T) []T {
	if cap(list) == len(list) {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}

// laneLen is how many intervals a lane has.
func (b *Block) laneLen(i int) int { return int(b.lanes[i+1].first - b.lanes[i].first) }

// Interval is one of a snapshot. Its ids of locks and stacks are the store's.
type Interval struct {
	Start, End jvmthread.Time
	Thread     int // index in the snapshot
	Peer       int // index in the snapshot of the owner or of the thread joined; 0: none
	Timeout    int64
	Lock       LockIndex
	Stack      StackID
	Seq        jvmthread.Seq
	Cycle      jvmthread.Cycle
	State      jvmthread.State
	Marks      jvmthread.Marks
	Parked     bool // it is deadlocked, and was parked before
}

// LockIndex names a lock of a session; 0: none.
type LockIndex uint32

// StackID names a stack of a session; 0: none.
type StackID uint32

// Edge is an interaction of a snapshot.
type Edge struct {
	Cause, Effect  jvmthread.Time
	From, To       int // threads
	FromSeq, ToSeq jvmthread.Seq
	Lock           LockIndex
	Stack          StackID
	Kind           jvmthread.InteractionKind
	Confidence     jvmthread.Confidence
}

func (b *Block) edge(i int) Edge {
	e := &b.interactions
	effect := b.Start + jvmthread.Time(e.effect.at(i))
	return Edge{
		Cause: effect - jvmthread.Time(e.latency.at(i)), Effect: effect, From: int(e.from[i]), To: int(e.to[i]),
		FromSeq: e.fromSeq[i], ToSeq: e.toSeq[i], Lock: LockIndex(e.lock[i]), Stack: StackID(e.stack[i]), Kind: e.kind[i], Confidence: e.confidence[i],
	}
}

// Hold is one of a snapshot.
type Hold struct {
	Start, End jvmthread.Time
	Lock       LockIndex
	Thread     int
	Marks      jvmthread.HoldMarks
}

func (b *Block) hold(i int) Hold {
	t := &b.holds
	end := b.Start + jvmthread.Time(t.end.at(i))
	return Hold{Start: end - jvmthread.Time(t.length.at(i)), End: end, Lock: LockIndex(t.lock[i]), Thread: int(t.thread[i]), Marks: t.marks[i]}
}

// interval reads one of a lane; start is where it begins.
func (b *Block) interval(l *lane, i int, start jvmthread.Time) Interval {
	iv := Interval{
		Start: start, End: b.Start + jvmthread.Time(b.end.at(i)), Thread: int(l.thread), Peer: int(b.peer[i]), Lock: LockIndex(b.lock[i]),
		Stack: StackID(b.stack[i]), Seq: l.seq + jvmthread.Seq(i) - jvmthread.Seq(l.first), State: b.state[i], Marks: b.marks[i],
	}
	if len(b.timeouts.index) > 0 {
		iv.Timeout = b.timeouts.at(i)
	}
	if len(b.cycles.index) > 0 {
		cycle := b.cycles.at(i)
		iv.Cycle, iv.Parked = jvmthread.Cycle(cycle>>1), cycle&1 != 0
	}
	return iv
}

// startOf is where the interval at an index of a lane begins.
func (b *Block) startOf(l *lane, i int) jvmthread.Time {
	if i == int(l.first) {
		return l.start
	}
	return b.Start + jvmthread.Time(b.end.at(i-1))
}
