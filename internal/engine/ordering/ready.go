// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package ordering

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Ready returns the events before the watermark in the order of time, and of threads for the same time. The slice is valid until the next
// call.
func (q *Queue) Ready() []jvmthread.Event {
	until := q.Watermark()
	switch {
	case q.end != "":
		until = math.MaxInt64
	case len(q.held) > q.limits.Events:
		until = math.MaxInt64
		for i := range q.held {
			if q.held[i].Time >= q.Watermark() {
				q.counters.Forced++
			}
		}
	}
	return q.release(until)
}

// Rest returns all remaining events in the order of time, at the end of a session.
func (q *Queue) Rest() []jvmthread.Event {
	for q.Stalled() {
		q.Skip()
	}
	q.calls = false
	return q.release(math.MaxInt64)
}

// release moves the held events before until to the sorted ones.
func (q *Queue) release(until jvmthread.Time) []jvmthread.Event {
	if cap(q.sorted) > 1<<16 && len(q.sorted) < cap(q.sorted)/16 {
		q.sorted, q.keys, q.merged = nil, nil, nil
	}
	if inOrder(q.held) { // as those of recordings are: they need not be copied
		n := sort.Search(len(q.held), func(i int) bool { return q.held[i].Time >= until })
		q.sorted, q.held = q.held[:n], append(q.sorted[:0], q.held[n:]...)
	} else {
		q.sort(until)
		kept := 0
		for i := range q.held {
			if q.held[i].Time >= until {
				q.held[kept] = q.held[i]
				kept++
			}
		}
		q.held = q.held[:kept]
	}
	if cap(q.held) > 1<<16 && len(q.held) < cap(q.held)/16 { // release the memory of a burst
		q.held = append([]jvmthread.Event(nil), q.held...)
	}
	if n := len(q.sorted); n > 0 {
		q.out = max(q.out, q.sorted[n-1].Time)
	}
	if until != math.MaxInt64 {
		q.out = max(q.out, until)
	}
	return q.sorted
}

// inOrder reports whether events are sorted by time, then thread.
func inOrder(events []jvmthread.Event) bool {
	for i := 1; i < len(events); i++ {
		if a, b := &events[i-1], &events[i]; b.Time < a.Time || b.Time == a.Time && b.Thread < a.Thread {
			return false
		}
	}
	return true
}

// The key of an event is its time since the first one (44 bits: five hours in nanoseconds) and its index (20 bits: a million events).
const indexBits = 20

// sort sets q.sorted to the held events before until, by time, then thread, then order of arrival, which is the order within a thread.
// Sorting keys and moving each event once takes half the time of sorting the events.
func (q *Queue) sort(until jvmthread.Time) {
	first, last := jvmthread.Time(math.MaxInt64), jvmthread.Time(math.MinInt64)
	for i := range q.held {
		if at := q.held[i].Time; at < until {
			first, last = min(first, at), max(last, at)
		}
	}
	q.keys, q.sorted = q.keys[:0], q.sorted[:0]
	if first > last {
		return
	}
	if span := uint64(last) - uint64(first); len(q.held) > 1<<indexBits || span >= 1<<(64-indexBits) {
		for i := range q.held {
			if q.held[i].Time < until {
				q.sorted = append(q.sorted, q.held[i])
			}
		}
		slices.SortStableFunc(q.sorted, compareEvents)
		return
	}
	for i := range q.held {
		if at := q.held[i].Time; at < until {
			q.keys = append(q.keys, uint64(at-first)<<indexBits|uint64(i))
		}
	}
	q.sortKeys(uint64(last) - uint64(first))
	for _, k := range q.keys {
		q.sorted = append(q.sorted, q.held[k&(1<<indexBits-1)])
	}
	orderTies(q.sorted)
}

// maxDigit is how many bits of a time a pass of a radix sort looks at: the counters of a pass fit into the CPU's fastest cache.
const maxDigit = 10

// sortKeys sorts the keys, whose times span the given number of nanoseconds. They consist of sorted runs, one for each thread of a batch. Each
// pass over them either halves the number of runs or sorts by one digit: a batch has few runs, or a short span.
func (q *Queue) sortKeys(span uint64) {
	const enough = 256 // keys, so that the counters of a pass do not matter
	passes := (bits.Len64(span) + maxDigit - 1) / maxDigit
	q.runs = q.runs[:0]
	for i, k := range q.keys {
		if i > 0 && k >= q.keys[i-1] {
			continue
		}
		if q.runs = append(q.runs, i); len(q.runs) > 1<<passes && len(q.keys) >= enough {
			q.distribute(passes, (bits.Len64(span)+passes-1)/passes)
			return
		}
	}
	q.merge()
}

// distribute sorts the keys by a number of digits of their times, the last digit first.
func (q *Queue) distribute(passes, digit int) {
	q.merged = slices.Grow(q.merged[:0], len(q.keys))[:len(q.keys)]
	for n := range passes {
		shift, mask := indexBits+n*digit, uint64(1)<<digit-1
		var places [1 << maxDigit]uint32 // of the next key with a digit
		for _, k := range q.keys {
			places[k>>shift&mask%(1<<maxDigit)]++
		}
		next := uint32(0)
		for i, count := range places[:mask+1] {
			places[i] = next
			next += count
		}
		for _, k := range q.keys {
			place := &places[k>>shift&mask%(1<<maxDigit)]
			q.merged[*place] = k
			*place++
		}
		q.keys, q.merged = q.merged, q.keys
	}
}

// merge sorts the keys: it merges neighbouring runs until one is left.
func (q *Queue) merge() {
	for len(q.runs) > 1 {
		q.merged = slices.Grow(q.merged[:0], len(q.keys))[:len(q.keys)]
		runs := q.runs[:0]
		for i := 0; i < len(q.runs); i += 2 {
			first, second, end := q.runs[i], len(q.keys), len(q.keys)
			if i+1 < len(q.runs) {
				second = q.runs[i+1]
			}
			if i+2 < len(q.runs) {
				end = q.runs[i+2]
			}
			mergeRuns(q.merged[first:end], q.keys[first:second], q.keys[second:end])
			runs = append(runs, first)
		}
		q.runs, q.keys, q.merged = runs, q.merged, q.keys
	}
}

func mergeRuns(out, a, b []uint64) {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out[n], a = a[0], a[1:]
		} else {
			out[n], b = b[0], b[1:]
		}
		n++
	}
	n += copy(out[n:], a)
	copy(out[n:], b)
}

// orderTies orders events of the same time by thread.
func orderTies(evs []jvmthread.Event) {
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
