// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// slice collects the first records that start at lo or later, as many as there is room for. A recording is in the order in which threads
// flushed their buffers. To sort it in bounded memory, it is read slice by slice: each continues where the previous one had found enough
// records, and reads on only where records that start early may be.
type slice struct {
	records []record
	lo      jvmthread.Time
	hi      jvmthread.Time // records from here on are left to the next slice
	room    int
	begins  []jvmthread.Time
	lost    uint64   // excess records that started at the same time
	rest    []record // of the next slice, among those read up to an offset
	after   int64    // that offset; 0: the next slice has to be read from the start
}

func (s *slice) reset(lo jvmthread.Time) {
	s.records, s.lo, s.hi = s.records[:0], lo, math.MaxInt64
	s.rest, s.after = s.rest[:0], 0
}

// next begins the next slice. It returns the offset to read from, 0 for the start.
func (s *slice) next() (from int64) {
	from = s.after
	s.records, s.rest = s.rest, s.records[:0]
	s.lo, s.hi, s.after = s.hi, math.MaxInt64, 0
	return from
}

// more reports whether there are records from hi on.
func (s *slice) more() bool { return s.hi != math.MaxInt64 }

// wants reports whether a record with this start belongs to the slice.
func (s *slice) wants(begin jvmthread.Time) bool { return begin >= s.lo && begin < s.hi }

// add adds a record, after which the recording continues at an offset; 0: it is not in order.
func (s *slice) add(r *record, after int64) {
	if !s.wants(r.event.Time) {
		return
	}
	if len(s.records) == cap(s.records) { // by a factor, since an append that grows by a quarter would touch five times the memory
		larger := make([]record, len(s.records), min(2*s.room, 4*len(s.records)+1024))
		copy(larger, s.records)
		s.records = larger
	}
	s.records = append(s.records, *r)
	if len(s.records) >= 2*s.room {
		s.shrink(after)
	}
}

// shrink keeps the first records.
func (s *slice) shrink(after int64) {
	s.begins = s.begins[:0]
	first := s.records[0].event.Time
	for i := range s.records {
		s.begins, first = append(s.begins, s.records[i].event.Time), min(first, s.records[i].event.Time)
	}
	again := s.more() || after == 0
	s.rest, s.after = slices.Grow(s.rest[:0], 2*s.room), 0
	if s.hi = nth(s.begins, s.room); s.hi == first { // all at the same time
		s.lost += uint64(len(s.records) - s.room)
		s.records = s.records[:s.room]
		s.hi++
		return
	}
	kept := 0
	for i := range s.records {
		if r := &s.records[i]; r.event.Time < s.hi {
			if kept < i {
				s.records[kept] = *r
			}
			kept++
		} else if !again { // otherwise some have been left out
			s.rest = append(s.rest, *r)
		}
	}
	s.records = s.records[:kept]
	if !again {
		s.after = after
	}
}

// nth returns the element that would be at an index if the list was sorted, and overwrites the list. It sorts only the elements near it.
func nth(list []jvmthread.Time, at int) jvmthread.Time {
	const width = 12
	least, most := slices.Min(list), slices.Max(list)
	shift := max(0, bits.Len64(uint64(most)-uint64(least))-width)
	var counts [1 << width]int32
	part := func(t jvmthread.Time) uint64 { return (uint64(t) - uint64(least)) >> shift & (1<<width - 1) }
	for _, t := range list {
		counts[part(t)]++
	}
	wanted := uint64(0)
	for ; at >= int(counts[wanted]); wanted++ {
		at -= int(counts[wanted])
	}
	n := 0
	for _, t := range list {
		if part(t) == wanted {
			list[n] = t
			n++
		}
	}
	slices.Sort(list[:n])
	return list[at]
}

// maxLate limits the ends of records held back for sorting. Usually there is one per thread.
const maxLate = 1 << 18
