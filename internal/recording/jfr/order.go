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

// splitter splits records into events ordered by time.
type splitter struct {
	lasts  lasts             // of the session; nil: not known, as more may be written
	late   []jvmthread.Event // events after the watermark, sorted
	events []jvmthread.Event
	keys   []sortKey
	sorted []jvmthread.Event
}

type sortKey struct {
	time   jvmthread.Time
	thread jvmthread.ThreadID
	index  int
}

// byThread sorts records by thread, start and end.
func (s *splitter) byThread(records []record) []sortKey {
	s.keys = slices.Grow(s.keys[:0], len(records))
	for i := range records {
		s.keys = append(s.keys, sortKey{records[i].event.Time, records[i].event.Thread, i})
	}
	slices.SortFunc(s.keys, func(a, b sortKey) int {
		if a.thread != b.thread {
			return cmp.Compare(a.thread, b.thread)
		}
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Or(cmp.Compare(records[a.index].end, records[b.index].end), cmp.Compare(a.index, b.index))
	})
	return s.keys
}

// split returns the events before until of these and earlier records in order, valid until the next call.
func (s *splitter) split(records []record, until jvmthread.Time) []jvmthread.Event {
	s.events = append(s.events[:0], s.late...)
	keys := s.byThread(records)
	var before, next *record // of the same thread
	var latest jvmthread.Time
	for i := range keys {
		r := &records[keys[i].index]
		if before != nil && before.event.Thread != r.event.Thread {
			before = nil
		}
		if i == 0 || keys[i-1].thread != r.event.Thread {
			latest = r.end
		}
		latest = max(latest, r.end)
		next = nil
		if i+1 < len(keys) && keys[i+1].thread == r.event.Thread {
			next = &records[keys[i+1].index]
		}
		if r.kind == kindPinned && next != nil && next.event.Time < r.end {
			continue // the next record is more specific
		}
		if before != nil && r.event.Time < before.end { // due to the rounding of ticks
			r.event.Time = before.end
			r.end = max(r.end, before.end)
		}
		s.begin(r)
		if next == nil || !r.reenters(next) { // otherwise it is finished after that
			s.finish(r, r.end)
		}
		if before != nil && before.reenters(r) {
			s.finish(before, r.end)
		}
		if next == nil {
			s.fallSilent(r, max(latest, r.end))
		}
		before = r
	}
	s.order()
	n := sort.Search(len(s.sorted), func(i int) bool { return s.sorted[i].Time >= until })
	if len(s.sorted)-n > maxLate { // time does not advance; give up the order
		n = len(s.sorted)
	}
	s.late = append(s.late[:0], s.sorted[n:]...)
	return s.sorted[:n]
}

// reenters reports whether r is the contention for the monitor at the end of the wait w.
func (w *record) reenters(r *record) bool {
	return w.kind == kindWait && r.kind == kindEnter && w.event.Thread == r.event.Thread && w.event.Lock == r.event.Lock &&
		(r.call == callWait || r.call == callJoin)
}

// begin adds the event at the start of a record, and the end of waiting if it is a wait.
func (s *splitter) begin(r *record) {
	s.events = append(s.events, r.event)
	if r.kind == kindWait {
		s.events = append(s.events, jvmthread.Event{
			Kind: jvmthread.KindWaited, Thread: r.event.Thread, Time: r.end, Lock: r.event.Lock, Peer: r.from, Flags: r.ended,
		})
	}
}

// finish adds the event at the end of a record, if its kind has one.
func (s *splitter) finish(r *record, at jvmthread.Time) {
	end := jvmthread.Event{Thread: r.event.Thread, Time: at, Lock: r.event.Lock, Flags: r.ended &^ jvmthread.FlagTimedOut}
	switch r.event.Kind {
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

// fallSilent adds a gap after a record that is the last of its thread.
func (s *splitter) fallSilent(r *record, until jvmthread.Time) {
	if from, ok := s.lasts.silence(r.event.Thread, until); ok {
		flags := r.event.Flags & jvmthread.FlagVirtual
		s.events = append(s.events, jvmthread.Event{Kind: jvmthread.KindGap, Thread: r.event.Thread, Time: from, Flags: flags})
	}
}

// order sorts events by time and thread. Each thread keeps its own order.
func (s *splitter) order() {
	s.keys = s.keys[:0]
	for i := range s.events {
		s.keys = append(s.keys, sortKey{s.events[i].Time, s.events[i].Thread, i})
	}
	slices.SortFunc(s.keys, func(a, b sortKey) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		if a.thread != b.thread {
			return cmp.Compare(a.thread, b.thread)
		}
		return cmp.Compare(a.index, b.index)
	})
	s.sorted = slices.Grow(s.sorted[:0], len(s.keys))
	for i := range s.keys {
		s.sorted = append(s.sorted, s.events[s.keys[i].index])
	}
}
