// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import "github.com/weft-otel/weft/internal/jvmthread"

// Kind is what a stopped thread waits for.
type Kind uint8

// The kinds. For the first two, the thread waits for a lock that another thread owns.
const (
	KindNone         Kind = iota // not stopped
	KindMonitor                  // blocked on a monitor
	KindSynchronizer             // parked while another thread owned the synchronizer
	KindObject
	KindReenter
	KindJoin
	KindSleep
	KindPark // without a known owner
	KindSuspend
	kindEnd
)

var kindNames = [kindEnd]string{"", "lock", "park", "object", "reenter", "join", "sleep", "park", "suspend"}

// String returns the name of the kind as used in attributes. Both kinds of parks have the same name: they belong to different metrics.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return "invalid"
}

// OfLock reports whether the thread waits for a lock that another thread owns.
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

// KindOf returns what a thread waits for in an interval.
func KindOf(iv *jvmthread.Interval) Kind {
	switch {
	case iv.State == jvmthread.StateParked && iv.Peer != jvmthread.NoThread,
		iv.State == jvmthread.StateDeadlocked && iv.Was == jvmthread.StateParked:
		return KindSynchronizer
	}
	return kindByState[iv.State]
}
