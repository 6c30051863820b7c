// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package ordering answers: in which order did it happen? Batches of one session come in parts, in another order, twice or not at all; a
// Queue puts the parts together, puts the batches in the order of their numbers, and gives out the events of all threads in the order of
// time, as far as the watermark says that nothing earlier can still come.
//
// A Queue has no clock. Whoever owns it decides how long to wait for a missing batch, and calls Skip. What was missed is counted
// exactly and told as a gap of all threads (an event of jvmthread.NoThread).
package ordering

import (
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Part is the events of one thread in one batch.
type Part struct {
	Batch     uint64 // from 1
	Part      uint32 // from 0
	Parts     uint32 // of the batch; at least 1
	Watermark jvmthread.Time
	Before    uint64 // events in all earlier batches, gaps not counted
	End       string // not empty: the session is over, and why
	Events    []jvmthread.Event
}

// Limits bound what a Queue holds.
type Limits struct {
	Batches int // that wait for an earlier one; default 1 024. When there are more, the earlier one is given up
	Events  int // that wait for the watermark, or in batches that wait; default 1 048 576. When there are more, all of them are given out
}

// DefaultLimits are good for 100 s of an agent that sends ten batches a second.
func DefaultLimits() Limits { return Limits{Batches: 1024, Events: 1 << 20} }

// Counters say what was odd.
type Counters struct {
	Duplicates uint64 // parts that had come before
	Batches    uint64 // batches given up as lost
	Missed     uint64 // events in them, and before the first batch that came
	Late       uint64 // events behind the watermark of an earlier batch; they are moved to it
	Forced     uint64 // events given out before the watermark reached them, since too many waited
	Reordered  uint64 // batches that came before an earlier one, or in place of it
}

// Queue orders the events of one session. One goroutine owns it.
type Queue struct {
	limits  Limits
	next    uint64 // number of the batch to be taken next
	seen    uint64 // events in the batches taken so far and in those given up
	waiting map[uint64]*batch
	free    []*batch

	waitingEvents int               // in the batches that wait
	held          []jvmthread.Event // of batches taken, not given out yet; those of a thread are in order
	keys          []uint64
	merged        []uint64 // room to merge keys
	runs          []int    // where those begin that are in order
	sorted        []jvmthread.Event
	watermark     jvmthread.Time
	out           jvmthread.Time // every event given out so far is earlier, or at most here if forced
	end           string
	counters      Counters
}

type batch struct {
	parts     map[uint32]struct{} // that have come: a batch costs what came of it, whatever it says of its size
	number    uint32              // of parts
	missing   uint32
	watermark jvmthread.Time
	before    uint64
	end       string
	events    []jvmthread.Event
}

// New returns a Queue that expects batch 1.
func New(limits Limits) *Queue {
	return &Queue{limits: limits, next: 1, waiting: make(map[uint64]*batch), watermark: math.MinInt64, out: math.MinInt64}
}

// MaxParts bounds the parts of a batch: the threads of one JVM that can have events within one batch.
const MaxParts = 1 << 17

// Add takes a part. It copies the events, whose times must not fall. It reports whether the part was new and made sense.
func (q *Queue) Add(p Part) bool {
	if p.Batch < q.next || p.Part >= p.Parts || p.Parts > MaxParts {
		q.counters.Duplicates++
		return false
	}
	b := q.waiting[p.Batch]
	if b == nil {
		b = q.newBatch(p)
		q.waiting[p.Batch] = b
	}
	if _, twice := b.parts[p.Part]; twice || p.Part >= b.number {
		q.counters.Duplicates++
		return false
	}
	b.parts[p.Part] = struct{}{}
	b.missing--
	b.events = append(b.events, p.Events...)
	q.waitingEvents += len(p.Events)
	if p.End != "" {
		b.end = p.End
	}
	q.takeReady()
	for len(q.waiting) > q.limits.Batches || q.waitingEvents > q.limits.Events {
		q.Skip()
	}
	return true
}

func (q *Queue) newBatch(p Part) *batch {
	if p.Batch > q.next {
		q.counters.Reordered++
	}
	var b *batch
	if n := len(q.free); n > 0 {
		b, q.free = q.free[n-1], q.free[:n-1]
	} else {
		b = new(batch)
	}
	if b.parts == nil {
		b.parts = make(map[uint32]struct{}, 8)
	}
	clear(b.parts)
	b.number = p.Parts
	b.missing, b.watermark, b.before, b.end, b.events = p.Parts, p.Watermark, p.Before, "", b.events[:0]
	return b
}

func (q *Queue) takeReady() {
	for {
		b := q.waiting[q.next]
		if b == nil || b.missing > 0 {
			return
		}
		q.take(b)
	}
}

// take moves the batch numbered next to the held events.
func (q *Queue) take(b *batch) {
	delete(q.waiting, q.next)
	q.next++
	q.waitingEvents -= len(b.events)
	if b.before > q.seen { // the agent counted events that never came here
		q.miss(b.before - q.seen)
	}
	for i := range b.events {
		if b.events[i].Time < q.out {
			q.counters.Late++
			b.events[i].Time = q.out
		}
		if b.events[i].Kind != jvmthread.KindGap {
			q.seen++
		}
	}
	if len(q.held) == 0 { // the usual case: no need to copy
		q.held, b.events = b.events, q.held
	} else {
		q.held = append(q.held, b.events...)
	}
	q.watermark = max(q.watermark, b.watermark)
	if b.end != "" {
		q.end = b.end
	}
	if cap(b.events) <= 1<<14 && len(b.parts) <= 1<<10 && len(q.free) < 64 { // do not keep the memory of a burst
		q.free = append(q.free, b)
	}
}

// miss counts n lost events and tells of them as a gap of all threads.
func (q *Queue) miss(n uint64) {
	q.counters.Missed += n
	q.seen += n
	at := q.watermark
	if at == math.MinInt64 {
		at = q.earliestWaiting()
	}
	q.held = append(q.held, jvmthread.Event{Kind: jvmthread.KindGap, Time: max(at, q.out), Arg: int64(min(n, math.MaxInt64))})
}

func (q *Queue) earliestWaiting() jvmthread.Time {
	first := jvmthread.Time(math.MaxInt64)
	for _, b := range q.waiting {
		first = min(first, b.watermark)
		for i := range b.events {
			first = min(first, b.events[i].Time)
		}
	}
	for i := range q.held {
		first = min(first, q.held[i].Time)
	}
	if first == math.MaxInt64 {
		return 0
	}
	return first
}

// Awaits returns the number of the batch that is to be taken next. It rises as batches are taken or given up.
func (q *Queue) Awaits() uint64 { return q.next }

// Stalled reports whether a batch is awaited while later ones are here. If it stays so for long, call Skip.
func (q *Queue) Stalled() bool { return len(q.waiting) > 0 }

// Skip gives up the batches that are awaited: the earliest one that is here is taken, as far as its parts have come.
func (q *Queue) Skip() {
	if len(q.waiting) == 0 {
		return
	}
	first := uint64(math.MaxUint64)
	for n := range q.waiting {
		first = min(first, n)
	}
	q.counters.Batches += first - q.next
	if q.waiting[first].missing > 0 {
		q.counters.Batches++
	}
	b := q.waiting[first]
	if q.watermark == math.MinInt64 && b.before > q.seen {
		q.miss(b.before - q.seen)
	}
	q.next = first
	q.take(b)
	q.takeReady()
}

// Watermark is the time before which everything has been given out once Ready was called.
func (q *Queue) Watermark() jvmthread.Time { return q.watermark }

// End returns why the session ended; empty while it goes on.
func (q *Queue) End() string { return q.end }

// Held is how many events wait.
func (q *Queue) Held() int { return q.waitingEvents + len(q.held) }

// Counters returns what was odd so far.
func (q *Queue) Counters() Counters { return q.counters }
