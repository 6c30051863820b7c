// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Awaited is what threads wait for, and what others hold meanwhile. The kind decides which of the other fields identifies it; the rest are zero.
type Awaited struct {
	Lock   jvmthread.LockID // not zero, but its class may be unknown
	Number uint32           // of a site, its StackID; of a pool, its number in the Finder
	Kind   AwaitedKind
}

// AwaitedKind is a kind of what threads wait for.
type AwaitedKind uint32 // without padding, Awaited is compared and hashed as one piece of memory

// The kinds. Each has identities of its own, so whatever events claim, a lock is never taken for a pool.
const (
	AwaitedLock     AwaitedKind = iota
	AwaitedSite                 // only the code that waits is known
	AwaitedPool                 // see Finder.pools
	AwaitedCarriers             // of virtual threads: a thread that is mounted holds one, and others wait for one
)

// awaitedBy returns what a wait is for, given its kind, its lock and its stack.
func awaitedBy(kind jvmthread.Wait, lock jvmthread.LockID, stack jvmthread.StackID) Awaited {
	switch {
	case kind == jvmthread.WaitCarrier:
		return Awaited{Kind: AwaitedCarriers}
	case lock.IsZero():
		return Awaited{Kind: AwaitedSite, Number: uint32(stack)}
	}
	return Awaited{Lock: lock}
}

// Is reports whether it is a given lock.
func (a *Awaited) Is(lock jvmthread.LockID) bool { return a.Kind == AwaitedLock && a.Lock == lock }

// hash spreads what is awaited over a cache.
func (a *Awaited) hash() uint32 {
	return a.Lock.Hash ^ uint32(a.Lock.Class) ^ a.Number
}

func (a *Awaited) compare(b *Awaited) int {
	return cmp.Or(cmp.Compare(a.Lock.Class, b.Lock.Class), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Lock.Hash, b.Lock.Hash),
		cmp.Compare(a.Number, b.Number))
}

// holds returns the known holds that end after start. Those of a pool are the holds of its objects.
func (a *Awaited) holds(w *window.Window, start, end jvmthread.Time) []jvmthread.Hold {
	switch a.Kind { //exhaustive:enforce
	case AwaitedLock:
		return w.HoldsOf(a.Lock, start, end)
	case AwaitedCarriers:
		return w.MountsDuring(start, end)
	case AwaitedSite, AwaitedPool:
	}
	return nil
}
