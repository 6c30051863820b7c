// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "time"

// State is what a thread is doing over an interval.
type State uint8

// The states of a thread. A waiting thread passes through three: waiting until it is notified, reentering until it owns the monitor
// again, then runnable.
const (
	StateUnknown    State = iota // history is missing: before the first event, or events were lost
	StateRunnable                // running or ready to run; the JVM does not report which
	StateBlocked                 // waiting for a monitor that another thread owns
	StateWaiting                 // in the wait set of an object
	StateReentering              // notified or timed out, and not the owner of the monitor yet
	StateJoining                 // waits for another thread to end
	StateSleeping
	StateParked
	StateDeadlocked
	StateSuspended
	StateDead
	StateQueued // a virtual thread that is ready to run and waits for a carrier
	stateEnd
)

var stateNames = [stateEnd]string{
	"unknown", "runnable", "blocked", "waiting", "reentering", "joining", "sleeping", "parked", "deadlocked", "suspended", "dead",
	"queued",
}

// NumStates is one more than the largest state, for tables indexed by state.
const NumStates = int(stateEnd)

// String returns the state's name.
func (s State) String() string { return nameOf(stateNames[:], s, "invalid") }

// ParseState returns the state with the given name.
func ParseState(name string) (State, bool) {
	for s := range stateEnd {
		if stateNames[s] == name {
			return s, true
		}
	}
	return StateUnknown, false
}

// Stopped reports whether a thread in this state waits for something.
func (s State) Stopped() bool {
	switch s {
	case StateBlocked, StateWaiting, StateReentering, StateJoining, StateSleeping, StateParked, StateDeadlocked, StateSuspended,
		StateQueued:
		return true
	case StateUnknown, StateRunnable, StateDead, stateEnd:
	}
	return false
}

// Seq numbers the intervals of one thread from 1. It is stable: the same events give the same numbers.
type Seq uint32

// NoSeq means no interval.
const NoSeq Seq = 0

// Interval is one thread in one state over [Start, End). The intervals of a thread tile its life.
type Interval struct {
	Start, End Time
	Thread     ThreadID
	Peer       ThreadID // owner of Lock when the thread began to be blocked, or the thread joined
	Timeout    int64    // of a wait, join, sleep or park, in nanoseconds; 0: none. With MarkContinues, minus the time waited before Start
	Lock       LockID
	Stack      StackID
	Seq        Seq
	Cycle      Cycle // of a deadlock
	State      State
	Marks      Marks
	Was        State // of unknown: the state until an event contradicted it; of deadlocked: the state before, blocked or parked
	Wait       Wait  // what the thread waits for
}

// Began returns when the wait began of which the interval is a part.
func (iv *Interval) Began() Time {
	if iv.Marks.Has(MarkContinues) {
		return iv.Start + Time(iv.Timeout)
	}
	return iv.Start
}

// Waited returns the length of the wait up to the end of the interval: its duration, and that of the parts of the wait before it.
func (iv *Interval) Waited() time.Duration { return iv.End.Sub(iv.Began()) }

// Cycle numbers the deadlocks of a session from 1. All threads of a deadlock have the same.
type Cycle uint32

// Duration returns the exact length of the interval.
func (iv Interval) Duration() time.Duration { return iv.End.Sub(iv.Start) }

// Marks are properties of an interval.
type Marks uint8

// The marks of intervals.
const (
	MarkTimedOut     Marks = 1 << iota // the wait ended by its timeout
	MarkInterrupted                    // the wait ended by an interrupt
	MarkOpen                           // End is not the end of the state, but of the known history
	MarkPartial                        // Start is not the start of the state, but of the known history
	MarkWillContinue                   // the wait continues in the next interval
	MarkContinues                      // the wait began in an earlier interval
	MarkPinned                         // the virtual thread kept its carrier
	MarkSeen                           // the thread was seen in a system call: both ends are those of looks, or its own next event
)

// A wait that becomes part of a deadlock is several intervals: blocked or parked, deadlocked, and blocked or parked again if another thread
// leaves the cycle first. All but the last have MarkWillContinue, all but the first have MarkContinues. Whoever counts waits counts the first one;
// whoever measures them takes Waited of the last one.

// Has reports whether all of the given marks are set.
func (m Marks) Has(all Marks) bool { return m&all == all }

// Detail holds what only few intervals have. It is stored separately, so that the other intervals stay small.
type Detail struct {
	Span       SpanContext // of the application, current on the thread when its wait began
	OwnerSpan  SpanContext // current at that time on the thread that owned the lock
	OwnerStack StackID     // of that thread at that time
	CPU        int64       // nanoseconds of CPU time in a runnable interval, up to the last reading of it
	RunQueue   int64       // nanoseconds of it that the thread waited for a processor, at least
	HasCPU     bool
}

// IsZero reports whether there are no details.
func (d Detail) IsZero() bool { return d == Detail{} }

// Hold is the ownership of a lock by a thread over [Start, End). Only contention makes holds visible: a hold for which no thread waited is
// unknown. The holds of a lock are in the order of time, and only shared ones overlap.
type Hold struct {
	Start, End Time
	Lock       LockID
	Thread     ThreadID
	Marks      HoldMarks
}

// HoldMarks describe how well the ends of a hold are known.
type HoldMarks uint8

// The marks of holds.
const (
	HoldSinceBefore HoldMarks = 1 << iota // Start is when the owner was first seen; it may have got the lock earlier
	HoldInferred                          // End is when the next owner got the lock; the release may have been earlier
	HoldOpen                              // the thread still owns the lock at End
	HoldSoFar                             // reported while open and again on completion
	HoldShared                            // of one of several permits, or of an object of a pool: such holds of a lock overlap
)
