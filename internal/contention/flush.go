// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"cmp"
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
	a.blocked.flushed(delta, func(w *Waits) { w.flushed(delta) })
	a.waits.flushed(delta, func(w *Waits) { w.flushed(delta) })
	a.classes.flushed(delta, func(c *Class) { c.flushed(delta) })
	a.orders.flushed(delta, resetting[uint64](delta))
	a.states.flushed(delta, resetting[States](delta))
	a.live.blocked.flushed(false, func(*Blocked) {})
	a.live.held.flushed(false, func(*time.Duration) {})
	a.totals.dirty = false
	if delta {
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

func resetting[V any](delta bool) func(*V) {
	return func(v *V) {
		if delta {
			*v = *new(V)
		}
	}
}

func (w *Waits) flushed(delta bool) {
	if delta {
		w.Count, w.Time = 0, 0
	}
	for _, h := range w.Durations {
		h.flushed(delta)
	}
}

func (c *Class) flushed(delta bool) {
	c.Holds.flushed(delta)
	c.Waiters, c.Chain = 0, 0
	if delta {
		*c = Class{Holds: c.Holds, Contended: c.Contended}
	}
}

func (h *Histogram) flushed(delta bool) {
	switch {
	case h == nil:
	case delta:
		h.reset()
	default:
		h.told = true // they stay until there are others: who scrapes comes when it likes
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

// BlockedNow returns who is blocked now.
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
