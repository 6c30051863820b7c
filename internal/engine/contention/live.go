// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// live is the current state of the session at a flush.
type live struct {
	blocked table[BlockedKey, Blocked]
	held    table[HeldKey, time.Duration]
	now     Now
	seen    [jvmthread.NumStates]bool // states observed at any flush
}

// BlockedKey contains the dimensions of currently blocked threads.
type BlockedKey struct {
	Class jvmthread.ClassID
	Kind  Kind
}

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

// Now counts the threads in each state.
type Now struct {
	Threads    [jvmthread.NumStates]int
	Stuck      [jvmthread.NumStates]int // for at least StuckAfter: blocked, reentering, deadlocked, or parked for an owned lock
	Deadlocked int
}

func newLive(a *Account) live {
	return live{
		blocked: newTable[BlockedKey, Blocked](a, func(k BlockedKey) BlockedKey { return BlockedKey{Kind: k.Kind} }),
		held:    newTable[HeldKey, time.Duration](a, func(k HeldKey) HeldKey { return HeldKey{Holder: k.Holder} }),
	}
}

// look reads the current state of the session.
func (a *Account) look(e *engine.Engine) {
	a.live.clear()
	now := e.Now()
	for th := range e.Timeline().Threads {
		if th.Dead() {
			continue
		}
		iv := th.Open()
		a.live.now.Threads[iv.State]++
		a.live.seen[iv.State] = true
		age := now.Sub(iv.Start)
		k := KindOf(iv)
		if (k.OfLock() || k == KindReenter) && age >= a.cfg.StuckAfter {
			a.live.now.Stuck[iv.State]++
		}
		if k.OfLock() {
			b := &a.live.blocked.get(BlockedKey{iv.Lock.Class, k}).Value
			b.Threads++
			b.Longest = max(b.Longest, age)
		}
	}
	a.live.now.Deadlocked = a.live.now.Threads[jvmthread.StateDeadlocked]
	for h := range e.HeldLocks {
		a.held(e, h, now)
	}
}

func (a *Account) held(e *engine.Engine, h interaction.Held, now jvmthread.Time) {
	th := e.Timeline().Thread(h.Owner)
	doing := jvmthread.StateUnknown
	if th != nil {
		doing = th.Open().State
	}
	d := &a.live.held.get(HeldKey{h.Lock.Class, doing}).Value
	*d = max(*d, now.Sub(h.Since))
}

// clear sets everything reported earlier to zero.
func (l *live) clear() {
	l.now = Now{}
	l.blocked.zero()
	l.held.zero()
}

// zero sets all values to zero.
func (t *table[K, V]) zero() {
	for _, list := range []map[K]*Series[K, V]{t.series, t.overflow} {
		for _, s := range list {
			s.Value = *new(V)
		}
	}
}
