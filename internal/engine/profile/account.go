// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package profile sums up the waits of one JVM by stack: where threads waited, and what the threads did that they waited for. It adds up all
// intervals of the windows of a session, as package contention does, so that the sums of both agree to the nanosecond. It has no clock.
package profile

import (
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Config selects what is summed up, and the limits. All sessions share it.
type Config struct {
	Waiters     bool // sum up contended waits by the stack that waited
	Uncontended bool // with Waiters, sum up the other waits, too
	Holders     bool // sum up contended waits by what the holders did
	Idle        bool // with Uncontended, include sleeps and the waits of threads without work
	Links       int  // requests of each stack whose waits are separate samples: those that waited longest
	MaxSamples  int  // stacks of a session until it is flushed; the rest share a sample for each kind of wait
	Budget      *contention.Budget
	Memory      Memory // with Holders, lends the memory for one window at a time; nil: each session keeps its own
}

// Account adds up one session. One goroutine owns it.
type Account struct {
	cfg     *Config
	sym     *symbols.Table
	rules   *waits.Classifier
	pools   *contention.Pools
	names   []contention.Text // of locks, by the stack that waits; lockNamed is added
	until   jvmthread.Time    // end of the time added for open intervals
	waiters table
	holders table
	split   split
}

// New returns the account of a session with its names and its classifier of waits; nil: the default one.
func New(cfg *Config, sym *symbols.Table, classifier *waits.Classifier) *Account {
	return &Account{
		cfg: cfg, sym: sym, rules: classifier.Or(sym), pools: contention.NewPools(sym), until: math.MinInt64,
		waiters: newTable(cfg), holders: newTable(cfg), split: newSplit(cfg.Memory),
	}
}

// Window adds a window, and the time of open intervals up to its end.
func (a *Account) Window(w *window.Window, tl *timeline.Timeline) {
	if a.cfg.Holders {
		a.split.borrow()
		defer a.split.release()
		a.contended(w, tl)
		a.split.begin(w, max(a.until, w.Start))
	}
	for _, l := range w.Lanes {
		a.lane(l)
	}
	a.addOpen(tl, w.End)
	if a.cfg.Holders {
		a.split.finish(a.addHolder)
	}
}

// contended finds the locks that threads wait for. What the holders of other locks did does not matter.
func (a *Account) contended(w *window.Window, tl *timeline.Timeline) {
	for _, l := range w.Lanes {
		for i := range l.Intervals.Len() {
			if l.Intervals.Wait(i).Contended() {
				a.split.find(l.Intervals.Lock(i))
			}
		}
	}
	for th := range tl.Threads {
		if iv := th.Open(); !th.Dead() && iv.Wait.Contended() {
			a.split.find(iv.Lock)
		}
	}
}

func (a *Account) lane(l *window.Lane) {
	pool := a.pools.Of(l.Thread)
	for i := range l.Intervals.Len() {
		if !a.cfg.wanted(l.Intervals.Wait(i)) {
			continue
		}
		var iv jvmthread.Interval
		l.Intervals.Read(i, &iv)
		if iv.Marks.Has(jvmthread.MarkOpen) {
			continue // addOpen adds it
		}
		a.add(&iv, l.Detail(iv.Seq), pool, iv.End)
	}
}

// wanted reports whether a kind of wait is summed up. Most threads of most programs have nothing to do, most of the time.
func (c *Config) wanted(k jvmthread.Wait) bool {
	switch {
	case k.Contended():
		return true
	case k == jvmthread.WaitNone || !c.Waiters || !c.Uncontended:
		return false
	}
	return c.Idle || k != jvmthread.WaitSleep && k != jvmthread.WaitSuspend && !k.Idle()
}

// addOpen adds the time of open intervals up to a time.
func (a *Account) addOpen(tl *timeline.Timeline, at jvmthread.Time) {
	for th := range tl.Threads {
		if th.Dead() {
			continue
		}
		iv := th.Open()
		if !a.cfg.wanted(iv.Wait) {
			continue
		}
		a.add(iv, th.Detail(), a.pools.Of(iv.Thread), at)
	}
	a.until = at
	a.pools.Trim(tl.Len())
}

// Close adds open intervals as if they ended with the session. It must be the last call. What holders did since the last window is unknown.
func (a *Account) Close(tl *timeline.Timeline, at jvmthread.Time) {
	if at <= a.until {
		return
	}
	if a.cfg.Holders {
		a.split.borrow()
		defer a.split.release()
	}
	a.addOpen(tl, at)
	if a.cfg.Holders {
		a.split.finish(a.addHolder)
	}
}

// add adds the time of a wait, up to a time, that was not added yet.
func (a *Account) add(iv *jvmthread.Interval, d *jvmthread.Detail, pool contention.Text, until jvmthread.Time) {
	var sum Sum
	if iv.Start >= a.until && !iv.Marks.Has(jvmthread.MarkContinues) {
		sum.Count = 1
	}
	from := max(iv.Start, a.until)
	sum.Time = max(0, until.Sub(from))
	if sum == (Sum{}) {
		return
	}
	var span jvmthread.SpanContext
	if d != nil {
		span = d.Span
	}
	name := a.lockName(iv)
	if a.cfg.Waiters {
		a.waiters.add(&Key{Stack: iv.Stack, Class: iv.Lock.Class, Lock: name, Pool: pool, Wait: iv.Wait}, sum, span)
	}
	if a.cfg.Holders && iv.Wait.Contended() {
		a.split.add(iv, d, name, from, max(from, until), sum.Count)
	}
}

// addHolder adds what a holder did while others waited.
func (a *Account) addHolder(k *Key, holder jvmthread.ThreadID, sum Sum, span jvmthread.SpanContext) {
	if holder != jvmthread.NoThread {
		k.Pool = a.pools.Of(holder)
	}
	a.holders.add(k, sum, span)
}

// lockNamed marks a stack whose lock was looked up.
const lockNamed = 1

// lockName returns the source's name of the lock that a stack takes.
func (a *Account) lockName(iv *jvmthread.Interval) contention.Text {
	const most = 1 << 20 // stacks; tables of symbols have fewer
	if iv.Stack == jvmthread.NoStack || iv.Stack >= most || !window.HasHolders(iv.Wait) {
		return contention.NoText
	}
	for int(iv.Stack) >= len(a.names) {
		a.names = append(a.names, make([]contention.Text, int(iv.Stack)+1-len(a.names))...)
	}
	n := &a.names[iv.Stack]
	if *n == 0 {
		*n = a.pools.Intern(symbols.LockName(a.sym.Stack(iv.Stack))) + lockNamed
	}
	return *n - lockNamed
}

// Aggregate adds the sums that an agent in aggregated mode sends instead of events. It does not send who held the locks.
func (a *Account) Aggregate(agg *jvmthread.Aggregate) {
	for i := range agg.Series {
		s := &agg.Series[i]
		iv := jvmthread.Interval{State: s.Kind.State(), Lock: jvmthread.LockID{Class: s.Class}, Stack: s.Stack}
		iv.Wait = a.rules.Wait(&iv)
		sum := Sum{Count: s.Count(), Time: time.Duration(s.Sum)}
		if sum.Count == 0 || !a.cfg.wanted(iv.Wait) {
			continue
		}
		k := Key{Stack: s.Stack, Class: s.Class, Lock: a.lockName(&iv), Wait: iv.Wait}
		if a.cfg.Waiters {
			a.waiters.add(&k, sum, jvmthread.SpanContext{})
		}
		if a.cfg.Holders && iv.Wait.Contended() {
			k.Stack = jvmthread.NoStack
			a.holders.add(&k, sum, jvmthread.SpanContext{})
		}
	}
}

// Text returns the text with the given number.
func (a *Account) Text(id contention.Text) string { return a.pools.Text(id) }
