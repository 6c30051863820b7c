// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Flush reads the current state of the session, calls report with a statement of all series, and begins the next interval. With delta
// temporality, all sums restart at zero. e is nil after the end of the session: then no thread is stuck.
func (a *Account) Flush(e *engine.Engine, now time.Time, delta bool, report func(*Statement)) {
	a.look(e)
	for t := range a.tables {
		t.flush(now)
	}
	report(&Statement{
		Account: a, Now: now, Blocked: a.blocked.all(), Waits: a.waits.all(), Classes: a.classes.all(), Orders: a.orders.all(),
		States: a.states.all(), Requests: a.requests.all(), Pinned: a.pinned.all(), Totals: &a.totals,
		Threads: a.now, Seen: a.seen, HasCarriers: a.carriers, BlockedNow: a.blockedNow.all(), HeldNow: a.heldNow.all(),
	})
	a.flushed = now
	for t := range a.tables {
		t.flushed(delta)
	}
	a.totals.dirty, a.said = false, true
	if delta || large(a.totals.Value.Path) {
		a.totals.Value, a.totals.Start = Totals{}, now
	}
}

// Release returns the budget that the account used.
func (a *Account) Release() {
	for t := range a.tables {
		t.release()
	}
}

// tables yields all tables.
func (a *Account) tables(yield func(t interface {
	flush(now time.Time)
	flushed(delta bool)
	release()
}) bool,
) {
	_ = yield(&a.blocked) && yield(&a.waits) && yield(&a.classes) && yield(&a.orders) && yield(&a.states) && yield(&a.requests) && yield(&a.pinned) &&
		yield(&a.blockedNow) && yield(&a.heldNow)
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

func restart[V any](v *V, delta bool) (restarted bool) {
	if delta {
		*v = *new(V)
	}
	return delta
}

func (s *States) next(delta bool) (restarted bool) {
	return restart(s, delta || slices.ContainsFunc(s[:], large))
}

func (c *Class) next(delta bool) (restarted bool) {
	restarted = delta || large(max(c.Path, c.Saved, c.Bound)) || c.Holds.large() || slices.ContainsFunc(c.Held[:], large)
	c.Holds.flushed(restarted)
	if restarted {
		*c = Class{Holds: c.Holds, Contended: c.Contended, Waiters: c.Waiters, Chain: c.Chain}
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

	Now         time.Time
	Blocked     []*Series[WaitKey, Waits] // waits for locks
	Waits       []*Series[WaitKey, Waits] // all other waits
	Classes     []*Series[jvmthread.ClassID, Class]
	Orders      []*Series[OrderKey, uint64]      // how often locks of two classes were taken in both orders
	States      []*Series[Text, States]          // time by state for each pool
	Requests    []*Series[RequestKey, Durations] // by name and kind
	Pinned      []*Series[WaitKey, Durations]    // the waits during which virtual threads kept their carriers
	Totals      *Series[struct{}, Totals]
	Threads     Now                       // by current state
	Seen        [jvmthread.NumStates]bool // whether any thread was in the state at this flush or an earlier one
	HasCarriers bool                      // whether any carrier was known at this flush or an earlier one
	BlockedNow  []*Series[BlockedKey, Blocked]
	HeldNow     []*Series[HeldKey, time.Duration] // how long locks with waiting threads have been held: the longest of each series
}
