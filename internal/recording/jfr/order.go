// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// slice collects the first records that start at lo or later, as many as there is room for. A recording is in the order in which threads
// flushed their buffers. To sort it in bounded memory, it is read several times, one slice each time.
type slice struct {
	records []record
	lo      jvmthread.Time
	hi      jvmthread.Time // records from here on are left to the next slice
	room    int
	more    bool // there are records from hi on
	begins  []jvmthread.Time
	lost    uint64 // excess records that started at the same time
}

func (s *slice) reset(lo jvmthread.Time) {
	s.records, s.lo, s.hi, s.more = s.records[:0], lo, math.MaxInt64, false
}

// wants reports whether a record with this start belongs to the slice.
func (s *slice) wants(begin jvmthread.Time) bool {
	if begin >= s.hi {
		s.more = s.hi != math.MaxInt64
		return false
	}
	return begin >= s.lo
}

func (s *slice) add(r *record) {
	if !s.wants(r.event.Time) {
		return
	}
	s.records = append(s.records, *r)
	if len(s.records) >= 2*s.room {
		s.shrink()
	}
}

// shrink keeps the first records.
func (s *slice) shrink() {
	s.begins = s.begins[:0]
	for i := range s.records {
		s.begins = append(s.begins, s.records[i].event.Time)
	}
	slices.Sort(s.begins)
	s.hi, s.more = s.begins[s.room], true
	if s.hi == s.begins[0] { // all at the same time
		s.lost += uint64(len(s.records) - s.room)
		s.records = s.records[:s.room]
		s.hi++
		return
	}
	s.records = slices.DeleteFunc(s.records, func(r record) bool { return r.event.Time >= s.hi })
}

// maxLate limits the ends of records held back for sorting. Usually there is one per thread.
const maxLate = 1 << 18
