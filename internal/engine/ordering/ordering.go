// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package ordering puts the events of one session in order. Batches arrive out of order, twice or not at all. A Queue orders them by number,
// and returns the events of all threads in the order of time, up to the watermark, before which no event can still arrive.
//
// A Queue has no clock: its owner decides how long to wait for a missing batch, and calls Skip. Missed events are counted exactly and
// reported as a gap of all threads (an event of jvmthread.NoThread).
//
// A Queue may join a session in the middle. What came before went to another collector, or to an earlier life of this one: it is unseen, but
// not missed. A Queue joins at the batch that the sender names as its first one, or else at the earliest batch that has arrived by the time
// its owner calls Skip.
package ordering

import (
	"maps"
	"math"
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Batch is a batch of events.
type Batch struct {
	Number    uint64 // from 1
	Watermark jvmthread.Time
	Before    uint64            // events in all earlier batches, gaps not counted
	First     uint64            // the sender has no earlier batch than this one; 0: not known
	End       string            // not empty: the session is over, and why
	Lost      bool              // the sender assumes the end: the session may continue with a batch of the same number
	Events    []jvmthread.Event // the times of a thread must not fall
}

// Limits bound what a Queue holds.
type Limits struct {
	Batches int // waiting for an earlier one; default 1 024. Over the limit, the missing batch is given up
	Events  int // waiting for the watermark or for an earlier batch; default 1 048 576. Over the limit, all of them are returned
}

// DefaultLimits suffice for 100 s of an agent that sends ten batches per second.
func DefaultLimits() Limits { return Limits{Batches: 1024, Events: 1 << 20} }

// Counters are the anomalies of a queue.
type Counters struct {
	Duplicates uint64 // batches that had arrived before
	Batches    uint64 // batches given up as lost
	Missed     uint64 // events in them
	Unseen     uint64 // events before the batch at which the queue joined the session
	Late       uint64 // events earlier than those already returned, whose time is raised to theirs, or out of the range of times
	Forced     uint64 // events returned before the watermark reached them, because of Limits.Events
	Reordered  uint64 // batches that arrived before an earlier one
}

// Queue orders the events of one session. One goroutine owns it.
type Queue struct {
	limits  Limits
	joining bool     // no batch was taken since New or Rejoin
	resumed bool     // the states of the threads are known from an earlier life
	resumes uint64   // number of the batch that would continue what was taken before; set while joining
	rejoins []uint64 // numbers of the batches before which the session may have been elsewhere; each follows one that waits
	next    uint64   // number of the next batch
	seen    uint64   // events in the batches taken or given up so far
	waiting map[uint64]*Batch
	free    []*Batch // whose memory is kept

	waitingEvents int               // in waiting batches
	held          []jvmthread.Event // of taken batches, not returned yet; those of a thread are in order
	keys          []uint64
	merged        []uint64 // scratch space of merge
	runs          []int    // starts of the sorted runs of keys
	sorted        []jvmthread.Event
	watermark     jvmthread.Time
	calls         bool           // system calls are reported: see lookback
	out           jvmthread.Time // all events returned so far are earlier or, if forced, not later
	begin         jvmthread.Time // earlier events were processed in an earlier life
	end           string
	counters      Counters
}

// New returns a Queue that joins a session, at batch 1 if that arrives.
func New(limits Limits) *Queue {
	q := &Queue{limits: limits, next: 1, waiting: make(map[uint64]*Batch), watermark: math.MinInt64, out: jvmthread.Earliest, begin: math.MinInt64}
	q.Rejoin()
	return q
}

// Rejoin says that the session may have been elsewhere meanwhile: if the next batch to arrive is not the awaited one, those in
// between are not missed. While a batch is missing, that holds for what follows the last one that has arrived.
func (q *Queue) Rejoin() {
	switch {
	case q.Stalled():
		after := slices.Max(slices.Collect(maps.Keys(q.waiting))) + 1
		if n := len(q.rejoins); n == 0 || q.rejoins[n-1] < after {
			q.rejoins = append(q.rejoins, after)
		}
	case !q.joining:
		q.joining, q.resumes = true, q.next
	}
}

// Resume continues at the given batch, before which so many events were processed in an earlier life, all of them before the watermark.
// Nothing was added yet. Of what is added, the events before the watermark were processed, too: their batches have later ones.
func (q *Queue) Resume(next, seen uint64, watermark jvmthread.Time) {
	q.next, q.resumes, q.seen, q.resumed, q.watermark, q.begin = next, next, seen, true, watermark, watermark
}

// Return says that the session was lost, and has most likely returned with the given batch, before which so many events were processed. Batches
// before it are repeats. Nothing was added yet.
func (q *Queue) Return(next, seen uint64) { q.next, q.resumes, q.seen = next, next, seen }

// Seen returns the number of events in the batches before the awaited one.
func (q *Queue) Seen() uint64 { return q.seen }

// Add adds a batch and copies its events. It reports whether the batch was new.
func (q *Queue) Add(b Batch) bool {
	if q.joining && q.resumes == 1 && !q.Stalled() && b.First <= b.Number { // no batch was taken, not in an earlier life either
		q.next = max(q.next, b.First)
	}
	twice := q.waiting[b.Number]
	if b.Number < q.next || twice != nil && (!twice.Lost || b.Lost) {
		q.counters.Duplicates++
		return false
	}
	if b.Number > q.next {
		q.counters.Reordered++
	}
	q.waiting[b.Number] = q.clone(&b)
	q.waitingEvents += len(b.Events)
	q.takeReady()
	for len(q.waiting) > q.limits.Batches || q.waitingEvents > q.limits.Events {
		q.Skip()
	}
	return true
}

func (q *Queue) clone(b *Batch) *Batch {
	own := &Batch{}
	if n := len(q.free); n > 0 {
		own, q.free = q.free[n-1], q.free[:n-1]
	}
	kept := slices.Grow(own.Events[:0], len(b.Events))[:len(b.Events)]
	copy(kept, b.Events)
	*own = *b
	own.Events = kept
	return own
}

func (q *Queue) takeReady() {
	for {
		b := q.waiting[q.next]
		if b == nil {
			return
		}
		if q.wentOn(q.next) {
			delete(q.waiting, q.next)
			return
		}
		q.take(b)
	}
}

// wentOn reports whether the session has not ended with a batch, as its sender assumed: later ones have arrived.
func (q *Queue) wentOn(number uint64) bool { return q.waiting[number].Lost && len(q.waiting) > 1 }

// take moves the next batch to the held events.
func (q *Queue) take(b *Batch) {
	switch {
	case q.joining && q.next != q.resumes:
		q.join(b.Before)
	case b.Before > q.seen: // events that were sent and did not arrive
		q.miss(b.Before - q.seen)
	}
	q.joining = false
	delete(q.waiting, q.next)
	if q.next++; len(q.rejoins) > 0 && q.next == q.rejoins[0] {
		q.joining, q.resumes, q.rejoins = true, q.next, slices.Delete(q.rejoins, 0, 1)
	}
	q.waitingEvents -= len(b.Events)
	q.dropProcessed(b)
	calls := false
	for i := range b.Events {
		ev := &b.Events[i]
		if at := min(max(ev.Time, q.out), jvmthread.Latest); at != ev.Time {
			q.counters.Late++
			ev.Time = at
		}
		if ev.Kind != jvmthread.KindGap {
			q.seen++
		}
		calls = calls || isCall(ev)
	}
	if calls {
		q.backdate(b.Events)
	}
	if len(q.held) == 0 { // the usual case: no need to copy
		q.held, b.Events = b.Events, q.held
	} else {
		q.held = append(q.held, b.Events...)
	}
	q.watermark = max(q.watermark, min(b.Watermark, jvmthread.Latest))
	if b.End != "" {
		q.end = b.End
	}
	if cap(b.Events) <= 1<<14 && len(q.free) < 64 { // release the memory of a burst
		q.free = append(q.free, b)
	}
}

// dropProcessed drops the events of an earlier life.
func (q *Queue) dropProcessed(b *Batch) {
	if q.begin == math.MinInt64 {
		return
	}
	b.Events = slices.DeleteFunc(b.Events, func(ev jvmthread.Event) bool {
		if ev.Time >= q.begin {
			return false
		}
		if ev.Kind != jvmthread.KindGap {
			q.seen++
		}
		return true
	})
}

// join begins in the middle of the session, after so many events in all. The threads' states are unknown if they were known before: after
// the events that arrived before the session went elsewhere.
func (q *Queue) join(before uint64) {
	q.counters.Unseen += before - min(before, q.seen)
	q.seen = max(q.seen, before)
	if q.watermark == math.MinInt64 && !q.resumed {
		return
	}
	for i := range q.held {
		q.out = max(q.out, q.held[i].Time+1)
	}
	q.gap(0)
}

// miss counts n lost events and adds a gap of all threads.
func (q *Queue) miss(n uint64) {
	q.counters.Missed += n
	q.seen += n
	q.gap(n)
}

func (q *Queue) gap(n uint64) {
	at := q.watermark
	if at == math.MinInt64 {
		at = q.earliestWaiting()
	}
	q.held = append(q.held, jvmthread.Event{Kind: jvmthread.KindGap, Time: max(at, q.out), Arg: int64(min(n, math.MaxInt64))})
}

func (q *Queue) earliestWaiting() jvmthread.Time {
	first := jvmthread.Time(math.MaxInt64)
	for _, b := range q.waiting {
		first = min(first, b.Watermark)
		for i := range b.Events {
			first = min(first, b.Events[i].Time)
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

// Awaits returns the number of the next batch. It rises as batches are taken or given up.
func (q *Queue) Awaits() uint64 { return q.next }

// Stalled reports whether a batch is missing while later ones have arrived. If this lasts, call Skip.
func (q *Queue) Stalled() bool { return len(q.waiting) > 0 }

// maxJump is how many batches may be missing at once: an agent that sends a hundred a second does so for ten minutes.
const maxJump = 1 << 16

// Jumps reports whether so many batches would be missing before one that it is more likely not of this session. Such a loss takes time, after
// which the owner calls Rejoin.
func (q *Queue) Jumps(number uint64) bool {
	return !q.joining && len(q.rejoins) == 0 && number > q.next && number-q.next > maxJump
}

// Skip gives up the missing batches and takes the earliest one that has arrived.
func (q *Queue) Skip() {
	if len(q.waiting) == 0 {
		return
	}
	first := uint64(math.MaxUint64)
	for n := range q.waiting {
		first = min(first, n)
	}
	if q.wentOn(first) {
		delete(q.waiting, first)
		q.Skip()
		return
	}
	if !q.joining {
		q.counters.Batches += first - q.next
	}
	q.next = first
	q.take(q.waiting[first])
	q.takeReady()
}

// Watermark returns the time before which Ready returns all events.
func (q *Queue) Watermark() jvmthread.Time {
	if q.calls && q.end == "" {
		return max(q.out, max(q.watermark, jvmthread.Earliest+lookback)-lookback)
	}
	return q.watermark
}

// End returns why the session ended, or "" while it continues.
func (q *Queue) End() string { return q.end }

// Held returns the number of queued events.
func (q *Queue) Held() int { return q.waitingEvents + len(q.held) }

// Bytes estimates the memory of the queued events, and the room that is kept for the next ones.
func (q *Queue) Bytes() int {
	const perEvent = int(unsafe.Sizeof(jvmthread.Event{}))
	n := q.waitingEvents + cap(q.held) + cap(q.sorted)
	for _, b := range q.free {
		n += cap(b.Events)
	}
	return perEvent*n + 8*(cap(q.keys)+cap(q.merged)+cap(q.runs))
}

// Shrink frees the room that is kept for the next events. What Ready has returned is no longer valid.
func (q *Queue) Shrink() {
	q.free, q.keys, q.merged, q.runs, q.sorted = nil, nil, nil, nil, nil
	q.held = slices.Clip(slices.Clone(q.held))
}

// Counters returns the anomalies so far.
func (q *Queue) Counters() Counters { return q.counters }
