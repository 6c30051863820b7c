// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// slice collects the records of a part of the recording: of those that begin at lo or later the first ones, as many as there is room for.
// A recording is in the order in which threads gave up their buffers, and so has to be sorted; to read it several times bounds memory.
type slice struct {
	records []record
	lo      jvmthread.Time
	hi      jvmthread.Time // those that begin here or later come in another slice
	room    int
	more    bool
	lost    uint64 // more began at one moment than there is room for
}

func (s *slice) reset(lo jvmthread.Time) {
	s.records, s.lo, s.hi, s.more = s.records[:0], lo, math.MaxInt64, false
}

func (s *slice) add(r *record) {
	switch {
	case r.event.Time < s.lo:
		return
	case r.event.Time >= s.hi:
		s.more = true
		return
	}
	s.records = append(s.records, *r)
	if len(s.records) >= 2*s.room {
		s.shrink()
	}
}

func (s *slice) shrink() {
	slices.SortStableFunc(s.records, func(a, b record) int { return cmp.Compare(a.event.Time, b.event.Time) })
	s.hi, s.more = s.records[s.room].event.Time, true
	n := sort.Search(len(s.records), func(i int) bool { return s.records[i].event.Time >= s.hi })
	if n == 0 { // all at one moment
		n = s.room
		s.lost += uint64(len(s.records) - n) //nolint:gosec // n is less
		s.hi++
	}
	s.records = s.records[:n]
}

// splitter makes events in the order of time of records.
type splitter struct {
	late    []jvmthread.Event // ends behind the watermark, in the order of each thread
	events  []jvmthread.Event
	keys    []sortKey
	sorted  []jvmthread.Event
	dropped uint64 // pinned, and shown by another event already
}

type sortKey struct {
	time   jvmthread.Time
	thread jvmthread.ThreadID
	index  int
}

// split returns the events before until of the records and of those before, in order; they are good until the next call. Records are
// sorted.
func (s *splitter) split(records []record, until jvmthread.Time) []jvmthread.Event {
	slices.SortStableFunc(records, func(a, b record) int {
		if c := cmp.Compare(a.event.Thread, b.event.Thread); c != 0 {
			return c
		}
		if c := cmp.Compare(a.event.Time, b.event.Time); c != 0 {
			return c
		}
		return cmp.Compare(a.end, b.end)
	})
	s.events = append(s.events[:0], s.late...)
	var last jvmthread.Time // of the thread at hand
	for i := range records {
		r := &records[i]
		if i == 0 || records[i-1].event.Thread != r.event.Thread {
			last = math.MinInt64
		}
		var next *record // of the same thread
		if i+1 < len(records) && records[i+1].event.Thread == r.event.Thread {
			next = &records[i+1]
		}
		if r.kind == kindPinned && next != nil && next.event.Time < r.end {
			s.dropped++
			continue
		}
		if r.event.Time < last { // by the rounding of ticks
			r.event.Time = last
			r.end = max(r.end, last)
		}
		s.begin(r)
		if next != nil && r.reenters(next) {
			last = r.end
			continue // to be finished behind it
		}
		s.finish(r, r.end)
		if i > 0 && records[i-1].reenters(r) {
			s.finish(&records[i-1], r.end)
		}
		last = r.end
	}
	s.order()
	n := sort.Search(len(s.sorted), func(i int) bool { return s.sorted[i].Time >= until })
	s.late = append(s.late[:0], s.sorted[n:]...)
	return s.sorted[:n]
}

// reenters reports whether r is the contention for the monitor at the end of the wait before it.
func (w *record) reenters(r *record) bool {
	return w.kind == kindWait && r.kind == kindEnter && w.event.Thread == r.event.Thread && w.event.Lock == r.event.Lock &&
		(r.call == callWait || r.call == callJoin)
}

// begin adds the event with which a record begins, and that a wait is over.
func (s *splitter) begin(r *record) {
	s.events = append(s.events, r.event)
	if r.kind == kindWait {
		s.events = append(s.events, jvmthread.Event{
			Kind: jvmthread.KindWaited, Thread: r.event.Thread, Time: r.end, Lock: r.event.Lock, Peer: r.from, Flags: r.ended,
		})
	}
}

// finish adds the event with which a record ends, if it is one with an end.
func (s *splitter) finish(r *record, at jvmthread.Time) {
	end := jvmthread.Event{Thread: r.event.Thread, Time: at, Lock: r.event.Lock, Flags: r.ended &^ jvmthread.FlagTimedOut}
	switch r.event.Kind { //nolint:exhaustive // the others are of one moment
	case jvmthread.KindContendedEnter:
		end.Kind, end.Peer = jvmthread.KindContendedEntered, r.from
	case jvmthread.KindWait:
		end.Kind = jvmthread.KindWaitReturned
	case jvmthread.KindJoinStart:
		end.Kind, end.Peer = jvmthread.KindJoinEnd, r.event.Peer
	case jvmthread.KindPark:
		end.Kind, end.Lock = jvmthread.KindUnparked, jvmthread.NoLock
	case jvmthread.KindSleepStart:
		end.Kind = jvmthread.KindSleepEnd
	default:
		return
	}
	s.events = append(s.events, end)
}

// order sorts by time, then thread; each thread keeps its own order.
func (s *splitter) order() {
	s.keys = s.keys[:0]
	for i := range s.events {
		s.keys = append(s.keys, sortKey{s.events[i].Time, s.events[i].Thread, i})
	}
	slices.SortFunc(s.keys, func(a, b sortKey) int {
		if c := cmp.Compare(a.time, b.time); c != 0 {
			return c
		}
		if c := cmp.Compare(a.thread, b.thread); c != 0 {
			return c
		}
		return cmp.Compare(a.index, b.index)
	})
	s.sorted = slices.Grow(s.sorted[:0], len(s.keys))
	for i := range s.keys {
		s.sorted = append(s.sorted, s.events[s.keys[i].index])
	}
}
