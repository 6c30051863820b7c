// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import "github.com/weft-otel/weft/internal/jvmthread"

// Kind is what a thread that is stopped waits for.
type Kind uint8

// The kinds. The first two are of locks, where another thread is in the way; the others are of other waits.
const (
	KindNone         Kind = iota // it is not stopped
	KindMonitor                  // it is blocked on a monitor
	KindSynchronizer             // it is parked, and another thread owned the synchronizer when it began
	KindObject
	KindReenter
	KindJoin
	KindSleep
	KindPark // no owner was known
	KindSuspend
	kindEnd
)

var kindNames = [kindEnd]string{"", "lock", "park", "object", "reenter", "join", "sleep", "park", "suspend"}

// String returns the kind's name, as attributes carry it. Both kinds of parks have the same: they are in different metrics.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return "invalid"
}

// OfLock reports whether another thread is in the way.
func (k Kind) OfLock() bool { return k == KindMonitor || k == KindSynchronizer }

var kindByState = [jvmthread.NumStates]Kind{
	jvmthread.StateBlocked:    KindMonitor,
	jvmthread.StateWaiting:    KindObject,
	jvmthread.StateReentering: KindReenter,
	jvmthread.StateJoining:    KindJoin,
	jvmthread.StateSleeping:   KindSleep,
	jvmthread.StateParked:     KindPark,
	jvmthread.StateDeadlocked: KindMonitor,
	jvmthread.StateSuspended:  KindSuspend,
}

// KindOf says what a thread waits for in an interval.
func KindOf(iv *jvmthread.Interval) Kind {
	switch {
	case iv.State == jvmthread.StateParked && iv.Peer != jvmthread.NoThread,
		iv.State == jvmthread.StateDeadlocked && iv.Was == jvmthread.StateParked:
		return KindSynchronizer
	}
	return kindByState[iv.State]
}
