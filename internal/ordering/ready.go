// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package ordering

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Ready returns the events earlier than the watermark in the order of time; events of the same time in the order of their threads. The
// slice is good until the next call.
func (q *Queue) Ready() []jvmthread.Event {
	until := q.watermark
	if q.end != "" {
		until = math.MaxInt64
	} else if len(q.held) > q.limits.Events {
		until = math.MaxInt64
		q.counters.Forced += q.countFrom(q.watermark)
	}
	return q.release(until)
}

// Rest returns all events that are left, in the order of time: for the end of a session.
func (q *Queue) Rest() []jvmthread.Event {
	for q.Stalled() {
		q.Skip()
	}
	return q.release(math.MaxInt64)
}

func (q *Queue) countFrom(at jvmthread.Time) (n uint64) {
	for i := range q.held {
		if q.held[i].Time >= at {
			n++
		}
	}
	return n
}

// release moves the held events before until to the sorted ones.
func (q *Queue) release(until jvmthread.Time) []jvmthread.Event {
	if cap(q.sorted) > 1<<16 && len(q.sorted) < cap(q.sorted)/16 {
		q.sorted, q.keys = nil, nil
	}
	q.sorted = q.sorted[:0]
	kept := 0
	for i := range q.held {
		if q.held[i].Time < until {
			q.sorted = append(q.sorted, q.held[i])
		} else {
			q.held[kept] = q.held[i]
			kept++
		}
	}
	q.held = q.held[:kept]
	if cap(q.held) > 1<<16 && kept < cap(q.held)/16 { // do not keep the memory of a burst
		q.held = append([]jvmthread.Event(nil), q.held...)
	}
	q.sort()
	if n := len(q.sorted); n > 0 {
		q.out = max(q.out, q.sorted[n-1].Time)
	}
	if until != math.MaxInt64 {
		q.out = max(q.out, until)
	}
	return q.sorted
}

// The key of an event is its distance from the first one and its index: 44 bits are five hours of nanoseconds, 20 bits a million events.
const indexBits = 20

// sort orders q.sorted by time, then thread, then the order of arrival, which is that of the thread. Sorting numbers and moving each
// event once takes half the time of sorting the events themselves.
func (q *Queue) sort() {
	evs := q.sorted
	if len(evs) < 2 {
		return
	}
	first, last := evs[0].Time, evs[0].Time
	for i := range evs {
		first, last = min(first, evs[i].Time), max(last, evs[i].Time)
	}
	if span := uint64(last) - uint64(first); len(evs) >= 1<<indexBits || span >= 1<<(64-indexBits) { //nolint:gosec // wraps rightly
		slices.SortStableFunc(evs, compareEvents)
		return
	}
	q.keys = q.keys[:0]
	for i := range evs {
		q.keys = append(q.keys, uint64(evs[i].Time-first)<<indexBits|uint64(i)) //nolint:gosec // checked above
	}
	slices.Sort(q.keys)
	start := len(q.held)
	for _, k := range q.keys {
		q.held = append(q.held, evs[k&(1<<indexBits-1)])
	}
	copy(evs, q.held[start:])
	q.held = q.held[:start]
	for i := 1; i < len(evs); i++ {
		if evs[i].Time != evs[i-1].Time || evs[i].Thread >= evs[i-1].Thread {
			continue
		}
		run := i - 1
		for run > 0 && evs[run-1].Time == evs[i].Time {
			run--
		}
		end := i + 1
		for end < len(evs) && evs[end].Time == evs[i].Time {
			end++
		}
		slices.SortStableFunc(evs[run:end], compareEvents)
		i = end - 1
	}
}

func compareEvents(a, b jvmthread.Event) int {
	if c := cmp.Compare(a.Time, b.Time); c != 0 {
		return c
	}
	return cmp.Compare(a.Thread, b.Thread)
}
