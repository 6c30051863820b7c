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

// Flush takes in how the session stands, and gives everything to tell; then the next interval begins. With delta, all sums begin anew. The
// engine is nil if the session is over: then nobody is stuck any more.
func (a *Account) Flush(e *engine.Engine, now time.Time, delta bool, tell func(*Statement)) {
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
	tell(&Statement{Account: a, Start: a.flushed, Now: now})
	a.flushed = now
	a.blocked.flushed(delta, (*Waits).flushed)
	a.waits.flushed(delta, (*Waits).flushed)
	a.classes.flushed(delta, (*Class).flushed)
	a.orders.flushed(delta, resetting[uint64])
	a.states.flushed(delta, (*States).flushed)
	a.live.blocked.flushed(false, keeping[Blocked])
	a.live.held.flushed(false, keeping[time.Duration])
	a.totals.dirty = false
	if delta || far(a.totals.Value.Path) {
		a.totals.Value, a.totals.Start = Totals{}, now
	}
}

// Release gives back what the account took of the budget that it shares.
func (a *Account) Release() {
	a.blocked.release()
	a.waits.release()
	a.classes.release()
	a.orders.release()
	a.states.release()
	a.live.blocked.release()
	a.live.held.release()
}

// far reports whether a sum is so large that it is to begin anew, as every cumulative sum may: 146 years, which a thousand threads that wait take two
// months for. So there is room for as much again before it is cut.
func far(sum time.Duration) bool { return sum > math.MaxInt64/2 }

// plus adds a time to a sum, neither of them negative. What is more than a sum can hold is cut.
func plus(sum *time.Duration, d time.Duration) {
	if *sum += d; *sum < 0 {
		*sum = math.MaxInt64
	}
}

func resetting[V any](v *V, delta bool) (anew bool) {
	if delta {
		*v = *new(V)
	}
	return delta
}

func keeping[V any](*V, bool) (anew bool) { return false }

func (s *States) flushed(delta bool) (anew bool) {
	return resetting(s, delta || slices.ContainsFunc(s[:], far))
}

func (w *Waits) flushed(delta bool) (anew bool) {
	anew = delta || far(w.Time)
	for _, h := range w.Durations {
		anew = anew || h.far()
	}
	if anew {
		w.Count, w.Time = 0, 0
	}
	for _, h := range w.Durations {
		h.flushed(anew)
	}
	return anew
}

func (c *Class) flushed(delta bool) (anew bool) {
	anew = delta || far(max(c.Path, c.Saved, c.Bound)) || c.Holds.far() || slices.ContainsFunc(c.Held[:], far)
	c.Holds.flushed(anew)
	c.Waiters, c.Chain = 0, 0
	if anew {
		*c = Class{Holds: c.Holds, Contended: c.Contended}
	}
	return anew
}

func (h *Histogram) far() bool { return h != nil && (far(h.Sum) || h.Count > math.MaxInt64/2) }

func (h *Histogram) flushed(anew bool) {
	switch {
	case h == nil:
	case anew:
		h.reset()
	default:
		h.told = true // they stay until there are others, as scrapes come at any time
	}
}

// Statement is what an account has to tell at a flush. Its series are in the same order each time. It is good until the function returns
// to which it was given.
type Statement struct {
	*Account

	Start, Now time.Time // of the interval since the flush before
}

// Blocked returns the waits for locks.
func (s *Statement) Blocked() []*Series[WaitKey, Waits] { return s.blocked.all(compareWaits) }

// Waits returns the waits for anything else.
func (s *Statement) Waits() []*Series[WaitKey, Waits] { return s.waits.all(compareWaits) }

func compareWaits(a, b WaitKey) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Pool, b.Pool))
}

// Classes returns the classes of locks.
func (s *Statement) Classes() []*Series[jvmthread.ClassID, Class] { return s.classes.all(cmp.Compare) }

// Orders returns the pairs of classes whose locks are taken in both orders, and how often that was seen.
func (s *Statement) Orders() []*Series[OrderKey, uint64] {
	return s.orders.all(func(a, b OrderKey) int { return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Second, b.Second)) })
}

// States returns the time by state, by pool.
func (s *Statement) States() []*Series[Text, States] { return s.states.all(cmp.Compare) }

// Totals returns what is of the whole session.
func (s *Statement) Totals() *Series[struct{}, Totals] { return &s.totals }

// BlockedNow returns the threads that are blocked now.
func (s *Statement) BlockedNow() []*Series[BlockedKey, Blocked] {
	return s.live.blocked.all(func(a, b BlockedKey) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Kind, b.Kind)) })
}

// HeldNow returns for how long locks are held now that others wait for: the longest.
func (s *Statement) HeldNow() []*Series[HeldKey, time.Duration] {
	return s.live.held.all(func(a, b HeldKey) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Holder, b.Holder)) })
}

// Threads returns what the threads do now.
func (s *Statement) Threads() Now { return s.live.now }

// Seen reports whether any thread was in a state at this flush or at an earlier one.
func (s *Statement) Seen(state jvmthread.State) bool { return s.live.seen[state] }
