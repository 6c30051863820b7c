// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// merger sorts the events of a batch by time. They are grouped by thread and sorted within each group, so it merges runs; to move less data it
// merges keys in place of events.
type merger struct {
	events []jvmthread.Event // those held back from earlier batches, then those of the batch
	held   int
	keys   []uint64
	spare  []uint64
	ends   []int // of runs in keys
	out    []jvmthread.Event
}

// A key is the distance from the earliest event in 44 bits (five hours of nanoseconds), and the index in 20 bits (a million events).
const indexBits = 20

// maxHeld limits the events held back if the watermark of a recording does not advance; the excess is passed on early. An agent's watermark
// covers all events of a batch with the next one at the latest.
const maxHeld = 1 << 20

// begin returns the slice to which the events of a batch are appended.
func (m *merger) begin() []jvmthread.Event { return m.events[:m.held] }

// merge takes the slice of begin, with the events of a batch. It returns the events before until in order, valid until the next call, and holds
// the others back up to maxHeld. It drops those before floor and returns their number.
func (m *merger) merge(events []jvmthread.Event, floor, until jvmthread.Time) (sorted []jvmthread.Event, late int) {
	m.events, m.out = events, m.out[:0]
	first, last := jvmthread.Time(math.MaxInt64), jvmthread.Time(math.MinInt64)
	for i := range m.events {
		first, last = min(first, m.events[i].Time), max(last, m.events[i].Time)
	}
	if len(m.events) >= 1<<indexBits || uint64(last)-uint64(first) >= 1<<(64-indexBits) {
		slices.SortStableFunc(m.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
		m.out = append(m.out, m.events...)
	} else {
		m.sort(first)
	}
	from := 0
	for from < len(m.out) && m.out[from].Time < floor {
		from++
	}
	to, _ := slices.BinarySearchFunc(m.out, until, func(ev jvmthread.Event, t jvmthread.Time) int {
		if ev.Time < t || t == math.MaxInt64 {
			return -1
		}
		return 1
	})
	to = max(to, from, len(m.out)-maxHeld)
	m.held = len(m.out) - to
	m.events = append(m.events[:0], m.out[to:]...)
	return m.out[from:to], from
}

func (m *merger) sort(first jvmthread.Time) {
	m.keys, m.ends = slices.Grow(m.keys[:0], len(m.events)), m.ends[:0]
	before := uint64(0)
	for i := range m.events {
		key := uint64(m.events[i].Time-first)<<indexBits | uint64(i)
		if key < before {
			m.ends = append(m.ends, i)
		}
		before = key
		m.keys = append(m.keys, key)
	}
	m.ends = append(m.ends, len(m.keys))
	for len(m.ends) > 1 {
		m.mergePairs()
	}
	m.out = slices.Grow(m.out, len(m.keys))[:len(m.keys)]
	for i, key := range m.keys {
		m.out[i] = m.events[key&(1<<indexBits-1)]
	}
}

// mergePairs merges each pair of adjacent runs.
func (m *merger) mergePairs() {
	m.spare = slices.Grow(m.spare[:0], len(m.keys))
	start, kept := 0, 0
	for i := 0; i < len(m.ends); i += 2 {
		middle := m.ends[i]
		end := middle
		if i+1 < len(m.ends) {
			end = m.ends[i+1]
		}
		m.spare = mergeTwo(m.spare, m.keys[start:middle], m.keys[middle:end])
		m.ends[kept] = end
		kept++
		start = end
	}
	m.ends = m.ends[:kept]
	m.keys, m.spare = m.spare, m.keys
}

func mergeTwo(dst, a, b []uint64) []uint64 {
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			dst = append(dst, a[0])
			a = a[1:]
		} else {
			dst = append(dst, b[0])
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}
