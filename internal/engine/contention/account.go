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

// WaitKey contains the dimensions of waits.
type WaitKey struct {
	Class jvmthread.ClassID // class of the lock or object, or NoClass
	Site  Text
	Pool  Text
	Kind  jvmthread.Wait
}

func (k WaitKey) compare(o WaitKey) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Class, o.Class), cmp.Compare(k.Site, o.Site), cmp.Compare(k.Pool, o.Pool))
}

func (k WaitKey) reduce() WaitKey { return WaitKey{Kind: k.Kind} }

// Waits sums up the waits of one kind.
type Waits struct {
	Count     uint64                       // that began; for locks, these are contentions
	Time      time.Duration                // so far, including open waits
	Durations [window.NumCauses]*Histogram // of waits that ended, by cause; nil: none
}

// Class sums up the locks of one class.
type Class struct {
	Contended  bool // a thread was blocked on one
	Handoffs   uint64
	Holds      *Histogram                         // nil: none
	Held       [jvmthread.NumStates]time.Duration // while other threads waited, by state of the holder
	Early      uint64                             // lost notifies: called while no thread was waiting
	OtherWoken uint64                             // waits that timed out after a notify woke another thread
	Path       time.Duration                      // on the critical path
	Saved      time.Duration
	Bound      time.Duration
	Waiters    int    // the maximum since the last flush
	Chain      uint64 // handoffs in the longest chain since the last flush
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
	sym     *symbols.Table
	rules   *waits.Classifier
	texts   texts
	sites   map[jvmthread.StackID]Text
	poolOf  map[jvmthread.ThreadID]Text
	until   jvmthread.Time // end of the time added for open intervals
	flushed time.Time      // time of the last flush

	blocked  table[WaitKey, Waits] // contended
	waits    table[WaitKey, Waits] // other waits
	classes  table[jvmthread.ClassID, Class]
	orders   table[OrderKey, uint64]
	states   table[Text, States]
	requests table[RequestKey, Requests]
	totals   Series[struct{}, Totals]

	causes []jvmthread.Interaction // scratch of Window

	// As of the last flush.
	blockedNow table[BlockedKey, Blocked]
	heldNow    table[HeldKey, time.Duration] // the longest of each series
	now        Now
	seen       [jvmthread.NumStates]bool // at any flush
}

// New returns the account of a session that begins at the given time, with its names and its classifier of waits; nil: the default one.
func New(cfg *Config, sym *symbols.Table, classifier *waits.Classifier, begin time.Time) *Account {
	a := &Account{
		cfg: cfg, sym: sym, rules: classifier.Or(sym), texts: newTexts(), sites: make(map[jvmthread.StackID]Text), poolOf: make(map[jvmthread.ThreadID]Text),
		until: math.MinInt64, flushed: begin,
	}
	a.blocked = newTable(a, WaitKey.compare, WaitKey.reduce, (*Waits).next)
	a.waits = newTable(a, WaitKey.compare, WaitKey.reduce, (*Waits).next)
	a.classes = newTable(a, cmp.Compare, none[jvmthread.ClassID], (*Class).next)
	a.orders = newTable(a, OrderKey.compare, none, restart[uint64])
	a.states = newTable(a, cmp.Compare, none[Text], (*States).next)
	a.requests = newTable(a, RequestKey.compare, RequestKey.reduce, (*Requests).next)
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
				a.closed(w, l, i, a.key(&iv, k, pool), window.CauseOf(&iv, a.causes))
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

func (a *Account) key(iv *jvmthread.Interval, k jvmthread.Wait, pool Text) WaitKey {
	key := WaitKey{Class: iv.Lock.Class, Pool: pool, Kind: k}
	if a.cfg.CallSites && iv.Stack != jvmthread.NoStack {
		key.Site = a.site(iv.Stack)
	}
	return key
}

// add adds the time of a wait, up to until, that was not added yet.
func (a *Account) add(s *Series[WaitKey, Waits], iv *jvmthread.Interval, until jvmthread.Time) {
	if iv.Start >= a.until && !iv.Marks.Has(jvmthread.MarkContinues) {
		s.Value.Count++
	}
	plus(&s.Value.Time, a.since(iv.Start, until))
}

// closed adds a wait that ended in the window, or a part of it.
func (a *Account) closed(w *window.Window, l *window.Lane, i int, key WaitKey, cause window.Cause) {
	iv := l.Intervals.At(i)
	s := a.of(key.Kind).get(key)
	a.add(s, &iv, iv.End)
	if iv.Marks.Has(jvmthread.MarkWillContinue) {
		return // its last part has the duration of the whole wait
	}
	h := a.durations(s, cause)
	d := iv.Waited()
	h.add(d, a.cfg)
	if a.cfg.Exemplars > 0 && !l.Hidden && h.wants(d, a.cfg.Exemplars) {
		e := Exemplar{Duration: d, At: iv.End, Window: w.Start, Ref: jvmthread.IntervalRef{Thread: iv.Thread}}
		if l.Kept(i) {
			e.Ref.Seq = iv.Seq
		}
		h.keep(e, a.cfg.Exemplars)
	}
}

// of returns the table for waits of a kind.
func (a *Account) of(k jvmthread.Wait) *table[WaitKey, Waits] {
	if k.Contended() {
		return &a.blocked
	}
	return &a.waits
}

// durations returns the histogram of the waits of a series that ended by a cause.
func (a *Account) durations(s *Series[WaitKey, Waits], cause window.Cause) *Histogram {
	if h := a.histogram(&s.Value.Durations[cause], &s.cost, s.Overflow); h != nil {
		return h
	}
	return a.histogram(&a.of(s.Key.Kind).spill(s.Key).Value.Durations[cause], nil, true)
}

// histogram returns *at, creating it if it is nil. It returns nil if the budget is exhausted.
func (a *Account) histogram(at **Histogram, cost *int, overflow bool) *Histogram {
	if *at == nil {
		if !overflow {
			if !a.cfg.Budget.take() {
				return nil
			}
			*cost++
		}
		*at = new(Histogram)
	}
	return *at
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
	if len(a.poolOf) > 2*tl.Len()+1024 {
		clear(a.poolOf) // drop threads that ended
	}
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
			s := a.of(k).get(a.key(iv, k, a.pool(iv.Thread)))
			a.durations(s, window.CauseEnd).add(a.until.Sub(iv.Began()), a.cfg)
		}
	}
}
