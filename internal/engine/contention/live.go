// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"cmp"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// BlockedKey contains the dimensions of currently blocked threads.
type BlockedKey struct {
	Class jvmthread.ClassID
	Kind  jvmthread.Wait
}

func (k BlockedKey) compare(o BlockedKey) int {
	return cmp.Or(cmp.Compare(k.Class, o.Class), cmp.Compare(k.Kind, o.Kind))
}

func (k BlockedKey) reduce() BlockedKey { return BlockedKey{Kind: k.Kind} }

// Blocked sums up the threads currently blocked on locks of a class.
type Blocked struct {
	Threads int
	Longest time.Duration
}

// HeldKey contains the dimensions of held locks with waiting threads.
type HeldKey struct {
	Class  jvmthread.ClassID
	Holder jvmthread.State
}

func (k HeldKey) compare(o HeldKey) int {
	return cmp.Or(cmp.Compare(k.Class, o.Class), cmp.Compare(k.Holder, o.Holder))
}

func (k HeldKey) reduce() HeldKey { return HeldKey{Holder: k.Holder} }

// Now counts the threads in each state.
type Now struct {
	Threads    [jvmthread.NumStates]int
	Stuck      [jvmthread.NumStates]int // for at least StuckAfter: blocked, reentering, deadlocked, or parked for an owned lock
	Deadlocked int
	Queued     time.Duration // of the virtual thread that has waited longest for a carrier
	Carriers   [NumCarrierStates]int
}

// look reads the current state of the session, in place of that of the last flush. e is nil after the end of the session.
func (a *Account) look(e *engine.Engine) {
	a.now = Now{}
	a.blockedNow.zero()
	a.heldNow.zero()
	if e == nil {
		return
	}
	now := e.Now()
	for th := range e.Timeline().Threads {
		if th.Dead() {
			continue
		}
		iv := th.Open()
		a.now.Threads[iv.State]++
		a.seen[iv.State] = true
		age := now.Sub(iv.Began())
		k := iv.Wait
		if (k.Contended() || k == jvmthread.WaitReenter) && age >= a.cfg.StuckAfter {
			a.now.Stuck[iv.State]++
		}
		if k.Contended() {
			b := &a.blockedNow.get(BlockedKey{iv.Lock.Class, k}).Value
			b.Threads++
			b.Longest = max(b.Longest, age)
		}
		if k == jvmthread.WaitCarrier {
			a.now.Queued = max(a.now.Queued, age)
		}
	}
	for _, carried := range e.Timeline().Carriers {
		a.now.Carriers[carrierState(e.Timeline(), carried)]++
		a.carriers = true
	}
	a.now.Deadlocked = a.now.Threads[jvmthread.StateDeadlocked]
	for h := range e.HeldLocks {
		doing := jvmthread.StateUnknown
		if th := e.Timeline().Thread(h.Owner); th != nil {
			doing = th.Open().State
		}
		d := &a.heldNow.get(HeldKey{h.Lock.Class, doing}).Value
		*d = max(*d, now.Sub(h.Since))
	}
}
