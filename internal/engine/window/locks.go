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

// LockStats are the sums of one lock class in a window: counts of what began in it, times within it.
type LockStats struct {
	Class       jvmthread.ClassID
	Contentions uint64
	Blocked     time.Duration
	BlockedMax  time.Duration // longest so far, also of one that began before the window
	Waits       uint64
	Waited      time.Duration
	Handoffs    uint64
	Waiters     int           // the most threads that were blocked on one lock of the class at one time
	Holds       uint64        // that began in the window, as far as contention shows them
	Held        time.Duration // of them, within the window
	HeldMax     time.Duration // the longest so far
	Holders     HolderTimes   // what the holders were doing meanwhile
	Run         HandoffRun    // the longest
}

// HandoffRun is consecutive handoffs of one lock, each by the thread that received the lock in the previous one.
type HandoffRun struct {
	Handoffs   uint64
	Start, End jvmthread.Time // of the first and of the last handoff
	threads    [maxRunThreads + 1]jvmthread.ThreadID
	n          int
}

const maxRunThreads = 8

// lockRuns is the handoff runs of a lock, of which the last one may continue.
type lockRuns struct {
	all  interaction.HandoffRuns[jvmthread.ThreadID]
	last HandoffRun
}

// HolderTimes is the time of holds by the state of the holder: what it was doing while others may have waited. It is less than the time of
// the holds where a holder's history is not known.
type HolderTimes [jvmthread.NumStates]time.Duration

// add adds what the thread of a lane was doing over [start, end).
func (h *HolderTimes) add(w *Window, l *Lane, start, end jvmthread.Time) {
	if l == nil || start >= end {
		return
	}
	first := l.near(l.cursor, start)
	last := l.near(first, end-1)
	l.cursor = last
	if last-first > 4 { // the sums spare a walk over what lies between, which for many locks of one holder would be quadratic
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

// part adds what of one interval lies in [start, end).
func (h *HolderTimes) part(l *Lane, i int, start, end jvmthread.Time) {
	if i >= len(l.Intervals) {
		return
	}
	iv := &l.Intervals[i]
	if from, to := max(iv.Start, start), min(iv.End, end); to > from {
		h[iv.State] += to.Sub(from)
	}
}

// prefixes returns, for each interval of the lane, the time before it in the window, by state.
func (l *Lane) prefixes(w *Window) []HolderTimes {
	if l.sums != nil {
		return l.sums
	}
	l.sums = make([]HolderTimes, len(l.Intervals)+1)
	for i, iv := range l.Intervals {
		l.sums[i+1] = l.sums[i]
		l.sums[i+1][iv.State] += w.Length(iv)
	}
	return l.sums
}

// near is at for a time that is expected a few intervals behind a place.
func (l *Lane) near(place int, t jvmthread.Time) int {
	for i := place; i < min(place+8, len(l.Intervals)); i++ {
		if l.Intervals[i].End > t {
			if l.Intervals[i].Start <= t {
				return i
			}
			break
		}
	}
	return l.at(t)
}

// at finds the first interval that ends after a time.
func (l *Lane) at(t jvmthread.Time) int {
	i, _ := slices.BinarySearchFunc(l.Intervals, t, func(iv jvmthread.Interval, t jvmthread.Time) int {
		if iv.End <= t {
			return -1
		}
		return 1
	})
	return i
}

// lockTable gathers the sums of a window.
type lockTable struct {
	classes map[jvmthread.ClassID]*LockStats
	recent  recent.Cache[jvmthread.ClassID, *LockStats]
	runs    map[jvmthread.LockID]*lockRuns
	list    []LockStats

	handoffs []handoff // of the window, in the order of time
}

// handoff passes a lock from one thread to another.
type handoff struct {
	lock     jvmthread.LockID
	from, to jvmthread.ThreadID
	at       jvmthread.Time
}

func newLockTable() lockTable {
	return lockTable{classes: make(map[jvmthread.ClassID]*LockStats), runs: make(map[jvmthread.LockID]*lockRuns)}
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

// reset begins another window. What came in so far of its handoffs stays.
func (t *lockTable) reset() {
	clear(t.classes)
	clear(t.runs)
	t.recent.Clear()
}

// stats returns the sums of a window whose intervals were added.
func (t *lockTable) stats(w *Window, queues []interaction.Queue) []LockStats {
	for i := range t.handoffs {
		t.addHandoff(&t.handoffs[i])
	}
	t.handoffs = t.handoffs[:0]
	for i := range w.Holds {
		t.addHold(w, &w.Holds[i])
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

func (t *lockTable) addInterval(w *Window, iv *jvmthread.Interval, length time.Duration) {
	var began uint64
	if iv.Start >= w.Start && !iv.State.Continues() {
		began = 1
	}
	switch iv.State {
	case jvmthread.StateBlocked, jvmthread.StateDeadlocked:
		s := t.class(iv.Lock.Class)
		s.Contentions += began
		s.Blocked += length
		s.BlockedMax = max(s.BlockedMax, iv.Duration())
	case jvmthread.StateWaiting:
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

func (t *lockTable) addHandoff(h *handoff) {
	s := t.class(h.lock.Class)
	s.Handoffs++
	runs := t.runs[h.lock]
	if runs == nil {
		runs = new(lockRuns)
		t.runs[h.lock] = runs
	}
	r := &runs.last
	if r.Handoffs = uint64(runs.all.Add(h.from, h.to)); r.Handoffs == 1 {
		r.Start, r.n, r.threads[0] = h.at, 1, h.from
	}
	r.End = h.at
	if r.n <= maxRunThreads {
		r.n++
	}
	r.threads[r.n-1] = h.to // after the first ones there is room for the newest only
	if r.Handoffs > s.Run.Handoffs {
		s.Run = *r
	}
}

// Threads returns the first threads of the run, followed by the last one.
func (r *HandoffRun) Threads() []jvmthread.ThreadID { return r.threads[:r.n] }
