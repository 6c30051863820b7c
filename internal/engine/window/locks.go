// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// LockStats are the sums of one lock class in a window. Counts are of what began in the window, times are limited to it.
type LockStats struct {
	Class       jvmthread.ClassID
	Contentions uint64
	Blocked     time.Duration
	BlockedMax  time.Duration // longest so far, including time before the window
	Waits       uint64
	Waited      time.Duration
	Handoffs    uint64
	Waiters     int           // maximum number of threads blocked concurrently on one lock of the class
	Holds       uint64        // that began in the window and are known from contention
	Held        time.Duration // time of holds within the window
	HeldMax     time.Duration // longest so far
	Holders     HolderTimes   // what the holders were doing meanwhile
	Run         HandoffRun    // longest run
	Folded      Folded        // contended waits without a span
}

// HandoffRun is a series of consecutive handoffs of one lock, each by the thread that received the lock in the previous one.
type HandoffRun struct {
	Handoffs   uint64
	Start, End jvmthread.Time // of the first and of the last handoff
	threads    [maxRunThreads + 1]jvmthread.ThreadID
	n          int
}

const maxRunThreads = 8

// lockRuns tracks the handoff runs of a lock. The last run may continue.
type lockRuns struct {
	all  interaction.HandoffRuns[jvmthread.ThreadID]
	last HandoffRun
}

// HolderTimes is the time of holds by the state of the holder: what it was doing while other threads may have waited. The sum is less than
// the time of the holds if the history of a holder is incomplete.
type HolderTimes [jvmthread.NumStates]time.Duration

// add adds what the thread of a lane was doing over [start, end).
func (h *HolderTimes) add(w *Window, l *Lane, start, end jvmthread.Time) {
	if l == nil || start >= end {
		return
	}
	first := l.near(l.cursor, start)
	last := l.near(first, end-1)
	l.cursor = last
	if last-first > 4 { // use sums: walking over all intervals would be quadratic for many locks of one holder
		sums := l.prefixes(w)
		for s := range h {
			h[s] += sums[last][s] - sums[first+1][s]
		}
		h.part(l, first, start, end)
		h.part(l, last, start, end)
		return
	}
	for i := first; i <= last; i++ {
		h.part(l, i, start, end)
	}
}

// part adds the part of one interval within [start, end).
func (h *HolderTimes) part(l *Lane, i int, start, end jvmthread.Time) {
	if i >= l.Intervals.Len() {
		return
	}
	if from, to := max(l.Intervals.Start(i), start), min(l.Intervals.End(i), end); to > from {
		h[l.Intervals.State(i)] += to.Sub(from)
	}
}

// prefixes returns, for each interval of the lane, the time before it in the window, by state.
func (l *Lane) prefixes(w *Window) []HolderTimes {
	if l.sums != nil {
		return l.sums
	}
	l.sums = make([]HolderTimes, l.Intervals.Len()+1)
	for i, iv := range l.Intervals.All() {
		l.sums[i+1] = l.sums[i]
		l.sums[i+1][iv.State] += w.Length(iv)
	}
	return l.sums
}

// near is like at, for a time that is probably a few intervals after place.
func (l *Lane) near(place int, t jvmthread.Time) int {
	for i := place; i < min(place+8, l.Intervals.Len()); i++ {
		if l.Intervals.End(i) > t {
			if l.Intervals.Start(i) <= t {
				return i
			}
			break
		}
	}
	return l.at(t)
}

// at returns the index of the first interval that ends after t.
func (l *Lane) at(t jvmthread.Time) int {
	low, high := 0, l.Intervals.Len()
	for low < high {
		if mid := int(uint(low+high) / 2); l.Intervals.End(mid) <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// lockTable computes the lock statistics of a window.
type lockTable struct {
	classes map[jvmthread.ClassID]*LockStats
	recent  recent.Cache[jvmthread.ClassID, *LockStats]
	runs    map[jvmthread.LockID]*lockRuns
	lastRun recent.Cache[jvmthread.LockID, *lockRuns]
	list    []LockStats
}

func (t *lockTable) class(id jvmthread.ClassID) *LockStats {
	if s := t.recent.Get(uint32(id), id); s != nil {
		return s
	}
	s := t.classes[id]
	if s == nil {
		s = &LockStats{Class: id}
		t.classes[id] = s
	}
	t.recent.Put(uint32(id), id, s)
	return s
}

// reset begins the next window.
func (t *lockTable) reset() {
	clear(t.classes)
	clear(t.runs)
	t.recent.Clear()
	t.lastRun.Clear()
}

// stats returns the statistics of a window whose intervals were added. The holds are those of the window in order of arrival: what their
// threads were doing is then found a few intervals further on each time.
func (t *lockTable) stats(w *Window, holds []jvmthread.Hold, queues []interaction.Queue) []LockStats {
	for i := range holds {
		t.addHold(w, &holds[i])
	}
	for _, q := range queues {
		s := t.class(q.Lock.Class)
		s.Waiters = max(s.Waiters, q.Peak)
	}
	t.list = t.list[:0]
	for _, s := range t.classes {
		if s.Contentions > 0 || s.Blocked > 0 || s.Waits > 0 || s.Waited > 0 || s.Handoffs > 0 {
			t.list = append(t.list, *s)
		}
	}
	slices.SortFunc(t.list, func(a, b LockStats) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Waited, a.Waited), cmp.Compare(a.Class, b.Class))
	})
	return t.list
}

func (t *lockTable) addInterval(iv *jvmthread.Interval, began uint64, length time.Duration) {
	switch {
	case iv.Wait.Contended():
		s := t.class(iv.Lock.Class)
		s.Contentions += began
		s.Blocked += length
		s.BlockedMax = max(s.BlockedMax, iv.Waited())
	case iv.State == jvmthread.StateWaiting:
		s := t.class(iv.Lock.Class)
		s.Waits += began
		s.Waited += length
	}
}

func (t *lockTable) addHold(w *Window, h *jvmthread.Hold) {
	if h.End <= max(h.Start, w.Start) {
		return
	}
	s := t.class(h.Lock.Class)
	if h.Start >= w.Start {
		s.Holds++
	}
	s.Held += h.End.Sub(max(h.Start, w.Start))
	s.HeldMax = max(s.HeldMax, h.End.Sub(h.Start))
	s.Holders.add(w, w.lane(h.Thread), max(h.Start, w.Start), h.End)
}

func (t *lockTable) addHandoff(ia *jvmthread.Interaction) {
	lock, from, to, at := ia.Lock, ia.From.Thread, ia.To.Thread, ia.EffectTime
	s := t.class(lock.Class)
	s.Handoffs++
	runs := t.runsOf(lock)
	r := &runs.last
	if r.Handoffs = uint64(runs.all.Add(from, to)); r.Handoffs == 1 {
		r.Start, r.n, r.threads[0] = at, 1, from
	}
	r.End = at
	if r.n <= maxRunThreads {
		r.n++
	}
	r.threads[r.n-1] = to // keep the first threads and the newest one
	if r.Handoffs > s.Run.Handoffs {
		s.Run = *r
	}
}

func (t *lockTable) runsOf(id jvmthread.LockID) *lockRuns {
	hash := id.Hash ^ uint32(id.Class)
	if r := t.lastRun.Get(hash, id); r != nil {
		return r
	}
	r := t.runs[id]
	if r == nil {
		r = new(lockRuns)
		t.runs[id] = r
	}
	t.lastRun.Put(hash, id, r)
	return r
}

// Threads returns the first threads of the run, followed by the last one.
func (r *HandoffRun) Threads() []jvmthread.ThreadID { return r.threads[:r.n] }
