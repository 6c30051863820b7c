// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package contention sums up how long the threads of one JVM waited and for what, and which threads are blocked now. It adds up all
// intervals of the windows of a session, before any are folded, so its sums are exact to the nanosecond. Between windows it reports blocked
// and stuck threads. It has no clock: callers pass the time of each flush.
package contention

import (
	"cmp"
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Config selects the dimensions and the limits. All sessions share it.
type Config struct {
	Buckets     []time.Duration // upper bounds of histograms, ascending; nil: exponential ones
	MaxSize     int             // buckets of an exponential histogram, at least 2
	CallSites   bool            // separate waits by the waiting method
	ThreadPools bool            // separate waits and times by Pool of the thread name
	StuckAfter  time.Duration
	Exemplars   int // per histogram and flush interval
	MaxSeries   int // combinations of attributes in one table of one session; the rest share an overflow series
	Expiry      time.Duration
	Budget      *Budget
}

// Class sums up the locks of one class.
type Class struct {
	Contended    bool // a thread was blocked on one
	Handoffs     uint64
	Holds        *Histogram                         // nil: none
	Held         [jvmthread.NumStates]time.Duration // while other threads waited, by state of the holder
	LostNotifies uint64                             // that no thread heard, although one then waited in vain
	Path         time.Duration                      // on the critical path
	Saved        time.Duration
	Bound        time.Duration
	Waiters      int    // the maximum in the windows since the last flush; in the last one if none has ended since
	Chain        uint64 // handoffs in the longest chain in these windows
}

// OrderKey is a pair of classes whose locks are taken in both orders.
type OrderKey struct{ First, Second jvmthread.ClassID }

func (k OrderKey) compare(o OrderKey) int {
	return cmp.Or(cmp.Compare(k.First, o.First), cmp.Compare(k.Second, o.Second))
}

// States is time by state.
type States [jvmthread.NumStates]time.Duration

// Totals are the sums of the whole session.
type Totals struct {
	Deadlocks            uint64
	Path                 time.Duration // length of the critical paths
	Events, Lost, Missed uint64
}

// Account adds up one session. One goroutine owns it.
type Account struct {
	cfg     *Config
	rules   *waits.Classifier
	pools   *Pools
	sites   map[jvmthread.StackID]Text
	until   jvmthread.Time // end of the time added for open intervals
	flushed time.Time      // time of the last flush

	blocked  table[WaitKey, Waits] // contended
	waits    table[WaitKey, Waits] // other waits
	classes  table[jvmthread.ClassID, Class]
	orders   table[OrderKey, uint64]
	states   table[Text, States]
	requests table[RequestKey, Durations]
	pinned   table[WaitKey, Durations] // of virtual threads that kept their carriers; also among the other waits
	totals   Series[struct{}, Totals]

	causes []jvmthread.Interaction // scratch of Window

	// As of the last flush.
	blockedNow table[BlockedKey, Blocked]
	heldNow    table[HeldKey, time.Duration] // the longest of each series
	now        Now
	said       bool                      // since the last window
	seen       [jvmthread.NumStates]bool // at any flush
	carriers   bool                      // any were known at a flush
}

// New returns the account of a session that begins at the given time, with its names and its classifier of waits; nil: the default one.
func New(cfg *Config, sym *symbols.Table, classifier *waits.Classifier, begin time.Time) *Account {
	a := &Account{
		cfg: cfg, rules: classifier.Or(sym), pools: NewPools(sym), sites: make(map[jvmthread.StackID]Text),
		until: math.MinInt64, flushed: begin,
	}
	a.blocked = newTable(a, WaitKey.compare, WaitKey.reduce, (*Waits).next)
	a.waits = newTable(a, WaitKey.compare, WaitKey.reduce, (*Waits).next)
	a.classes = newTable(a, cmp.Compare, none[jvmthread.ClassID], (*Class).next)
	a.orders = newTable(a, OrderKey.compare, none, restart[uint64])
	a.states = newTable(a, cmp.Compare, none[Text], (*States).next)
	a.requests = newTable(a, RequestKey.compare, RequestKey.reduce, (*Durations).next)
	a.pinned = newTable(a, WaitKey.compare, WaitKey.reduce, (*Durations).next)
	a.blockedNow = newTable[BlockedKey, Blocked](a, BlockedKey.compare, BlockedKey.reduce, nil)
	a.heldNow = newTable[HeldKey, time.Duration](a, HeldKey.compare, HeldKey.reduce, nil)
	a.totals.Start = begin
	return a
}

// Window adds a window, and the time of open intervals up to its end. The spans of the window must be selected, so that exemplars refer to
// existing spans.
func (a *Account) Window(w *window.Window, tl *timeline.Timeline) {
	for _, l := range w.Lanes {
		pool := a.pool(l.Thread)
		states := &a.states.get(pool).Value
		for i := range l.Intervals.Len() {
			var iv jvmthread.Interval
			l.Intervals.Read(i, &iv)
			if iv.Marks.Has(jvmthread.MarkOpen) {
				continue // addOpen adds it
			}
			plus(&states[iv.State], a.since(iv.Start, iv.End))
			if k := iv.Wait; k != jvmthread.WaitNone {
				a.causes = l.AppendCauses(a.causes[:0], i)
				key := a.key(&iv, k, pool)
				a.closed(w, l, i, key, window.CauseOf(&iv, a.causes))
				if iv.Marks.Has(jvmthread.MarkPinned) {
					a.kept(w, l, i, key)
				}
			}
		}
	}
	a.addOpen(tl, w.End)
	a.locks(w)
	a.path(w)
	t := &a.totals.Value
	t.Deadlocks += uint64(len(w.Deadlocks))
	t.Events += w.Events
	t.Lost += w.Lost
	t.Missed += w.Missed
	a.totals.dirty = true
}

// since returns how much of [start, end) was not added yet.
func (a *Account) since(start, end jvmthread.Time) time.Duration {
	return max(0, end.Sub(max(start, a.until)))
}

// addOpen adds the time of open intervals up to a time.
func (a *Account) addOpen(tl *timeline.Timeline, at jvmthread.Time) {
	for th := range tl.Threads {
		if th.Dead() {
			continue
		}
		iv := th.Open()
		pool := a.pool(iv.Thread)
		plus(&a.states.get(pool).Value[iv.State], a.since(iv.Start, at))
		if k := iv.Wait; k != jvmthread.WaitNone {
			a.add(a.of(k).get(a.key(iv, k, pool)), iv, at)
		}
	}
	a.until = at
	a.pools.Trim(tl.Len())
}

// Close adds open intervals as if they ended with the session. It must be the last call.
func (a *Account) Close(tl *timeline.Timeline, at jvmthread.Time) {
	if at > a.until { // otherwise the last window ended here and counted the intervals that began at this moment
		a.addOpen(tl, at)
	}
	for th := range tl.Threads {
		if th.Dead() {
			continue
		}
		iv := th.Open()
		if k := iv.Wait; k != jvmthread.WaitNone {
			key, waited := a.key(iv, k, a.pool(iv.Thread)), a.until.Sub(iv.Began())
			a.durations(a.of(k).get(key), window.CauseEnd).add(waited, a.cfg)
			if th.Pinned() {
				durationsOf(a, &a.pinned, key).add(waited, a.cfg)
			}
		}
	}
}
