// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/interaction"
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
	Chain       Chain         // the longest
}

// Chain is handoffs of one lock in a row, each by the thread that had got the lock by the one before: nobody else came between.
type Chain struct {
	Lock       jvmthread.LockID
	Handoffs   uint64
	Start, End jvmthread.Time // of the first and of the last handoff
	threads    [maxChainThreads + 1]jvmthread.ThreadID
	n          int
}

const maxChainThreads = 8

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
	near    [16]*LockStats // those that were asked for last
	chains  map[jvmthread.LockID]*Chain
	list    []LockStats

	handoffs []handoff // of the window, in the order of time
}

// handoff is what a chain is made of.
type handoff struct {
	lock     jvmthread.LockID
	from, to jvmthread.ThreadID
	at       jvmthread.Time
}

func newLockTable() lockTable {
	return lockTable{classes: make(map[jvmthread.ClassID]*LockStats), chains: make(map[jvmthread.LockID]*Chain)}
}

func (t *lockTable) class(id jvmthread.ClassID) *LockStats {
	near := &t.near[int(id)%len(t.near)]
	if *near != nil && (*near).Class == id {
		return *near
	}
	s := t.classes[id]
	if s == nil {
		s = &LockStats{Class: id}
		t.classes[id] = s
	}
	*near = s
	return s
}

// reset begins another window. What came in so far of its handoffs stays.
func (t *lockTable) reset() {
	clear(t.classes)
	clear(t.chains)
	clear(t.near[:])
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
	c := t.chains[h.lock]
	if c == nil {
		c = new(Chain)
		t.chains[h.lock] = c
	}
	if c.n == 0 || c.threads[c.n-1] != h.from {
		*c = Chain{Lock: h.lock, Start: h.at, n: 1}
		c.threads[0] = h.from
	}
	c.Handoffs++
	c.End = h.at
	if c.n <= maxChainThreads {
		c.n++
	}
	c.threads[c.n-1] = h.to // once there are many, the newest stands behind the first ones
	if c.Handoffs > s.Chain.Handoffs {
		s.Chain = *c
	}
}

// Threads returns the first threads of the chain and, behind them, the last one.
func (c *Chain) Threads() []jvmthread.ThreadID { return c.threads[:c.n] }
