// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// splitter splits records into events ordered by time.
type splitter struct {
	lasts  *lasts            // of the session; nil: not known, as more may be written
	late   []jvmthread.Event // events after the watermark, sorted
	events []jvmthread.Event
	keys   []sortKey
	merged []sortKey
	runs   []int // starts of the sorted runs of keys
	sorted []jvmthread.Event

	groups  map[jvmthread.ThreadID]int32 // indices in threads
	threads []group
	groupOf []int32 // by record
	byID    []int32 // of threads
}

// group is the records of a thread.
type group struct {
	id  jvmthread.ThreadID
	end int // of its keys
}

type sortKey struct {
	time   jvmthread.Time
	thread jvmthread.ThreadID
	index  int
}

// byThread sorts records by thread, start and end. The records of a thread are mostly in order already, since each thread has buffers of its
// own: it groups them by thread, and sorts the groups that need it.
func (s *splitter) byThread(records []record) []sortKey {
	if s.groups == nil {
		s.groups = make(map[jvmthread.ThreadID]int32)
	}
	clear(s.groups)
	s.threads = s.threads[:0]
	last := int32(-1)
	s.groupOf = s.groupOf[:0]
	for i := range records {
		id := records[i].event.Thread
		if last < 0 || s.threads[last].id != id {
			known, ok := s.groups[id]
			if !ok {
				known = int32(len(s.threads))
				s.groups[id] = known
				s.threads = append(s.threads, group{id: id})
			}
			last = known
		}
		s.threads[last].end++
		s.groupOf = append(s.groupOf, last)
	}
	s.byID = s.byID[:0]
	for i := range s.threads {
		s.byID = append(s.byID, int32(i))
	}
	slices.SortFunc(s.byID, func(a, b int32) int { return cmp.Compare(s.threads[a].id, s.threads[b].id) })
	start := 0
	for _, at := range s.byID {
		g := &s.threads[at]
		g.end, start = start, start+g.end // where its next record goes
	}
	s.keys = slices.Grow(s.keys[:0], len(records))[:len(records)]
	for i := range records {
		g := &s.threads[s.groupOf[i]]
		s.keys[g.end] = sortKey{records[i].event.Time, g.id, i}
		g.end++
	}
	byStart := func(a, b sortKey) int {
		if a.time != b.time {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Or(cmp.Compare(records[a.index].end, records[b.index].end), cmp.Compare(a.index, b.index))
	}
	start = 0
	for _, at := range s.byID {
		keys := s.keys[start:s.threads[at].end]
		if !slices.IsSortedFunc(keys, byStart) {
			slices.SortFunc(keys, byStart)
		}
		start = s.threads[at].end
	}
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

// order sorts events by time and thread. Each thread keeps its own order. The events of a thread follow each other and are mostly in order, so
// it merges neighboring runs until one is left.
func (s *splitter) order() {
	s.keys, s.runs = s.keys[:0], s.runs[:0]
	for i := range s.events {
		key := sortKey{s.events[i].Time, s.events[i].Thread, i}
		if i == 0 || key.before(&s.keys[i-1]) {
			s.runs = append(s.runs, i)
		}
		s.keys = append(s.keys, key)
	}
	for len(s.runs) > 1 {
		s.merged = slices.Grow(s.merged[:0], len(s.keys))[:len(s.keys)]
		runs := s.runs[:0]
		for i := 0; i < len(s.runs); i += 2 {
			first, second, end := s.runs[i], len(s.keys), len(s.keys)
			if i+1 < len(s.runs) {
				second = s.runs[i+1]
			}
			if i+2 < len(s.runs) {
				end = s.runs[i+2]
			}
			mergeKeys(s.merged[first:end], s.keys[first:second], s.keys[second:end])
			runs = append(runs, first)
		}
		s.runs, s.keys, s.merged = runs, s.merged, s.keys
	}
	s.sorted = slices.Grow(s.sorted[:0], len(s.keys))
	for i := range s.keys {
		s.sorted = append(s.sorted, s.events[s.keys[i].index])
	}
}

// before reports whether a key is less than another. Keys of a thread with the same time stay in their order.
func (k *sortKey) before(other *sortKey) bool {
	return k.time < other.time || k.time == other.time && k.thread < other.thread
}

// mergeKeys merges two sorted lists; of equal keys, those of a come first.
func mergeKeys(out, a, b []sortKey) {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		if b[0].before(&a[0]) {
			out[n], b = b[0], b[1:]
		} else {
			out[n], a = a[0], a[1:]
		}
		n++
	}
	n += copy(out[n:], a)
	copy(out[n:], b)
}
