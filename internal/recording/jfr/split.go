// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// splitter splits records into events ordered by time. It orders keys of events, which are smaller, and makes the events in batches.
type splitter struct {
	lasts   *lasts                                 // of the session; nil: not known, as more may be written
	open    map[jvmthread.ThreadID]jvmthread.Event // waits that have no record
	late    []jvmthread.Event                      // events after the watermark, sorted
	early   []jvmthread.Event                      // late ones of the previous call
	records []record                               // of the current call
	order   []sortKey                              // of records, by thread
	keys    []sortKey                              // of events
	spare   []sortKey                              // scratch space of merge
	runs    []int                                  // starts of the sorted runs of keys

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

// byThread sorts the keys of records by thread, start and end. The records of a thread are mostly in order already, since each thread has
// buffers of its own: it groups them by thread, and sorts the groups.
func (s *splitter) byThread() {
	records := s.records
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
	s.order = slices.Grow(s.order[:0], len(records))[:len(records)]
	for i := range records {
		g := &s.threads[s.groupOf[i]]
		s.order[g.end] = sortKey{time: records[i].event.Time, second: int64(records[i].end), index: int32(i)}
		g.end++
	}
	s.spare = slices.Grow(s.spare[:0], len(records))[:len(records)]
	start = 0
	for _, at := range s.byID {
		end := s.threads[at].end
		keys := s.order[start:end]
		if sorted := s.merge(keys, s.spare[start:end]); &sorted[0] != &keys[0] {
			copy(keys, sorted)
		}
		start = end
	}
}

// split orders the events of these and earlier records, and returns the number of those before until. They are valid until the next call.
func (s *splitter) split(records []record, until jvmthread.Time) (n int) {
	s.records = records
	s.byThread()
	s.early, s.late = s.late, s.early[:0]
	s.keys = slices.Grow(s.keys[:0], len(s.early)+2*len(records)+len(s.byID))
	for i := range s.early {
		s.add(s.early[i].Time, s.early[i].Thread, i, sideEarly)
	}
	start := 0
	for _, at := range s.byID {
		end := s.threads[at].end
		s.splitThread(s.order[start:end])
		start = end
	}
	s.spare = slices.Grow(s.spare[:0], len(s.keys))[:len(s.keys)]
	if sorted := s.merge(s.keys, s.spare); len(sorted) > 0 && &sorted[0] != &s.keys[0] {
		s.keys, s.spare = sorted, s.keys
	}
	n = sort.Search(len(s.keys), func(i int) bool { return s.keys[i].time >= until })
	if len(s.keys)-n > maxLate { // time does not advance; give up the order
		n = len(s.keys)
	}
	s.late = s.appendEvents(s.late, s.keys[n:])
	return n
}

// splitThread adds the events of a thread with these records.
func (s *splitter) splitThread(keys []sortKey) {
	var before, next *record
	var beforeAt int
	latest := s.records[keys[0].index].end
	for i := range keys {
		s.narrow(keys[i:])
		at := int(keys[i].index)
		r := &s.records[at]
		latest = max(latest, r.end)
		next = nil
		if i+1 < len(keys) {
			next = &s.records[keys[i+1].index]
		}
		if r.isCovered(before, next) {
			if next == nil {
				s.fallSilent(at, latest)
			}
			continue
		}
		if before != nil && r.event.Time < before.end { // due to the rounding of ticks
			r.event.Time = before.end
			r.end = max(r.end, before.end)
		}
		s.add(r.event.Time, r.event.Thread, at, sideBegin)
		if r.kind == kindWait {
			s.add(r.end, r.event.Thread, at, sideWaited)
		}
		if next == nil || !r.reenters(next) { // otherwise it is finished after that
			s.finish(at, r.end)
		}
		if before != nil && before.reenters(r) {
			s.finish(beforeAt, r.end)
		}
		if r.kind == kindPause {
			s.add(r.end, r.event.Thread, at, sideSilent) // that thread does nothing between pauses
		} else if next == nil {
			s.fallSilent(at, max(latest, r.end))
		}
		before, beforeAt = r, at
	}
}

// isCovered reports whether its neighbors say all that a record of a thread does, and more.
func (w *record) isCovered(before, next *record) bool {
	switch {
	case w.kind == kindPinned:
		return next != nil && next.event.Time < w.end || before != nil && before.kind.isIO() && w.event.Time < before.end
	case w.kind.isIO():
		return w.event.Time >= w.end // it consists of others: see narrow
	}
	return false
}

// narrow cuts the first of these records of a thread if it is for I/O and contains others, such as a park for the lock of a socket: these are
// more specific. It keeps the longer part, which it moves after the others if need be.
func (s *splitter) narrow(keys []sortKey) {
	r := &s.records[keys[0].index]
	if !r.kind.isIO() {
		return
	}
	for i := 1; i < len(keys); i++ {
		inner := &s.records[keys[i].index]
		if inner.event.Time >= r.end || inner.end > r.end || inner.kind == kindPinned {
			return // a thread that is pinned while it reads waits for nothing else
		}
		if inner.event.Time-r.event.Time > r.end-inner.end {
			r.end = inner.event.Time
			return
		}
		r.event.Time = inner.end
		keys[i-1], keys[i] = keys[i], keys[i-1]
	}
}

// reenters reports whether r is the contention for the monitor at the end of the wait w.
func (w *record) reenters(r *record) bool {
	return w.kind == kindWait && r.kind == kindEnter && w.event.Thread == r.event.Thread && w.event.Lock == r.event.Lock &&
		(r.call == callWait || r.call == callJoin)
}
