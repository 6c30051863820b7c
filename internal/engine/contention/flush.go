// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Flush reads the current state of the session, calls report with a statement of all series, and begins the next interval. With delta
// temporality, all sums restart at zero. e is nil after the end of the session: then no thread is stuck.
func (a *Account) Flush(e *engine.Engine, now time.Time, delta bool, report func(*Statement)) {
	if e != nil {
		a.look(e)
	} else {
		a.live.clear()
	}
	a.blocked.flush(now)
	a.waits.flush(now)
	a.classes.flush(now)
	a.orders.flush(now)
	a.states.flush(now)
	a.live.blocked.flush(now)
	a.live.held.flush(now)
	report(&Statement{Account: a, Start: a.flushed, Now: now})
	a.flushed = now
	a.blocked.flushed(delta, (*Waits).flushed)
	a.waits.flushed(delta, (*Waits).flushed)
	a.classes.flushed(delta, (*Class).flushed)
	a.orders.flushed(delta, resetting[uint64])
	a.states.flushed(delta, (*States).flushed)
	a.live.blocked.flushed(false, keeping[Blocked])
	a.live.held.flushed(false, keeping[time.Duration])
	a.totals.dirty = false
	if delta || large(a.totals.Value.Path) {
		a.totals.Value, a.totals.Start = Totals{}, now
	}
}

// Release returns the budget that the account used.
func (a *Account) Release() {
	a.blocked.release()
	a.waits.release()
	a.classes.release()
	a.orders.release()
	a.states.release()
	a.live.blocked.release()
	a.live.held.release()
}

// large reports whether a sum is so large that it should restart, as cumulative sums may: half the range of an int64, or 146 years, which a
// thousand waiting threads reach in two months. The other half remains until the sum saturates.
func large(sum time.Duration) bool { return sum > math.MaxInt64/2 }

// plus adds d to a sum; neither is negative. The sum saturates at the largest duration.
func plus(sum *time.Duration, d time.Duration) {
	if *sum += d; *sum < 0 {
		*sum = math.MaxInt64
	}
}

func resetting[V any](v *V, delta bool) (restarted bool) {
	if delta {
		*v = *new(V)
	}
	return delta
}

func keeping[V any](*V, bool) (restarted bool) { return false }

func (s *States) flushed(delta bool) (restarted bool) {
	return resetting(s, delta || slices.ContainsFunc(s[:], large))
}

func (w *Waits) flushed(delta bool) (restarted bool) {
	restarted = delta || large(w.Time)
	for _, h := range w.Durations {
		restarted = restarted || h.large()
	}
	if restarted {
		w.Count, w.Time = 0, 0
	}
	for _, h := range w.Durations {
		h.flushed(restarted)
	}
	return restarted
}

func (c *Class) flushed(delta bool) (restarted bool) {
	restarted = delta || large(max(c.Path, c.Saved, c.Bound)) || c.Holds.large() || slices.ContainsFunc(c.Held[:], large)
	c.Holds.flushed(restarted)
	c.Waiters, c.Chain = 0, 0
	if restarted {
		*c = Class{Holds: c.Holds, Contended: c.Contended}
	}
	return restarted
}

func (h *Histogram) large() bool { return h != nil && (large(h.Sum) || h.Count > math.MaxInt64/2) }

func (h *Histogram) flushed(restarted bool) {
	switch {
	case h == nil:
	case restarted:
		h.reset()
	default:
		h.reported = true // keep them until there are new ones: scrapes come at any time
	}
}

// Statement is the content of an account at a flush. The order of its series is stable. It is valid only during the call that receives it.
type Statement struct {
	*Account

	Start, Now time.Time // of the flush interval
}

// Blocked returns the waits for locks.
func (s *Statement) Blocked() []*Series[WaitKey, Waits] { return s.blocked.all(compareWaits) }

// Waits returns all other waits.
func (s *Statement) Waits() []*Series[WaitKey, Waits] { return s.waits.all(compareWaits) }

func compareWaits(a, b WaitKey) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Pool, b.Pool))
}

// Classes returns the classes of locks.
func (s *Statement) Classes() []*Series[jvmthread.ClassID, Class] { return s.classes.all(cmp.Compare) }

// Orders returns the pairs of classes whose locks are taken in both orders, and how often that was observed.
func (s *Statement) Orders() []*Series[OrderKey, uint64] {
	return s.orders.all(func(a, b OrderKey) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second)) })
}

// States returns the time by state for each pool.
func (s *Statement) States() []*Series[Text, States] { return s.states.all(cmp.Compare) }

// Totals returns the sums of the whole session.
func (s *Statement) Totals() *Series[struct{}, Totals] { return &s.totals }

// BlockedNow returns the currently blocked threads.
func (s *Statement) BlockedNow() []*Series[BlockedKey, Blocked] {
	return s.live.blocked.all(func(a, b BlockedKey) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Kind, b.Kind)) })
}

// HeldNow returns how long locks with waiting threads have been held: the longest of each series.
func (s *Statement) HeldNow() []*Series[HeldKey, time.Duration] {
	return s.live.held.all(func(a, b HeldKey) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Holder, b.Holder)) })
}

// Threads returns the number of threads by current state.
func (s *Statement) Threads() Now { return s.live.now }

// Seen reports whether any thread was in the state at this flush or an earlier one.
func (s *Statement) Seen(state jvmthread.State) bool { return s.live.seen[state] }
