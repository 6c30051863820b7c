// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Options bound what is reported.
type Options struct {
	MinTime      time.Duration // blocked time of a reported incident; deadlocks are always reported
	MaxPerWindow int           // the costliest ones are reported, deadlocks first
	Whole        bool          // what follows after an incident was cut is reported as the same incident, from its beginning; else as its rest
}

// DefaultOptions returns what thread_span reports by default.
func DefaultOptions() Options { return Options{MinTime: 10 * time.Millisecond, MaxPerWindow: 20} }

// Kind is a kind of incidents.
type Kind uint8

// The kinds of incidents.
const (
	Contention      Kind = iota // for a lock or a permit
	Deadlock                    // threads wait for each other in a cycle
	PoolExhausted               // for an object of a pool
	CarriersStarved             // virtual threads for a carrier
)

// String returns the name of the kind as used in attributes.
func (k Kind) String() string {
	return [...]string{"contention", "deadlock", "pool_exhausted", "carriers_starved"}[k]
}

// An incident has at most so many waits and holds, so that its trace has at most 50 spans.
const (
	MaxWaits = 33
	MaxHolds = 16
)

// ID identifies an incident of a session: a thread begins to wait for one lock at a time. Only where an incident is cut, its rest and one
// to which some of its waits belong from then on may begin with the same thread.
type ID struct {
	Start jvmthread.Time
	First jvmthread.ThreadID // of the threads that waited then, the one with the smallest id
	Rest  bool               // it continues an incident that was cut
}

// Incident is an episode of contention with all that followed from it.
type Incident struct {
	ID

	Kind     Kind
	Lock     jvmthread.LockID // the root; zero: unknown, or the carriers, or a deadlock
	Cycle    jvmthread.Cycle
	Deadlock *deadlock.Found // nil: none, or found before the session was joined
	End      jvmthread.Time
	Open     bool // not over at its end
	Before   ID   // of a Rest: the incident that was cut where this one starts

	Blocked  time.Duration // the sum of its waits
	Count    uint64        // its waits
	Threads  int           // that waited
	TimedOut uint64        // of its waits
	Longest  time.Duration // of its waits
	Locks    []Lock        // by blocked time, longest first
	Waits    []Wait        // longest first
	Holds    []Hold        // of the root, those that cost most, in the order of time
	Holders  []Holder      // of the root, by what they cost, most first

	// Saved is how much earlier the thread of the critical path would have finished without the incident. It is known if the window has a
	// what-if and no other contention for locks of the class.
	Saved      time.Duration
	SavedKnown bool

	collected
}

// Lock is a lock of an incident.
type Lock struct {
	ID      Awaited
	Kind    jvmthread.Wait     // of its longest wait
	Stack   jvmthread.StackID  // of that wait
	Thread  jvmthread.ThreadID // of that wait
	Threads int                // that waited
	Time    time.Duration      // blocked

	asRoot  time.Duration // of Time, while it was the root or, of a deadlock, belonged to the cycle
	longest jvmthread.Time
}

// WasRoot reports whether the lock was the root for a time.
func (l *Lock) WasRoot() bool { return l.asRoot > 0 }

// Wait is the part of a wait within an incident.
type Wait struct {
	Start, End jvmthread.Time
	Interval   jvmthread.Interval // in the last window
	Detail     jvmthread.Detail
	Target     window.Target // its span
	HasSpan    bool
	Holder     window.Holder         // who held the lock longest in the last window; NoThread: unknown
	Share      float64               // the part of the wait in which it did; 0: unknown
	Giver      jvmthread.Interaction // the handoff that ended it; InteractionNone: none

	key      Awaited // of the lock of the incident
	lane, at int32   // of the interval in its window; -1: filled
}

// Hold is the part of a hold of the root within an incident.
type Hold struct {
	Start, End jvmthread.Time
	Since      jvmthread.Time // Start, or earlier
	Of         Awaited
	Thread     jvmthread.ThreadID
	Blocked    time.Duration      // of others meanwhile
	Doing      jvmthread.Interval // the longest interval of what the holder did longest; Seq is NoSeq if that is not known
	Target     window.Target      // the span of Doing
	HasSpan    bool

	doing jvmthread.Time // the length of Doing
	fresh bool           // of the current window
}

// Holder is a thread that held the root.
type Holder struct {
	Thread  jvmthread.ThreadID
	Blocked time.Duration // of others meanwhile
	Held    time.Duration
}

func (h *Holder) add(blocked, held time.Duration) {
	h.Blocked += blocked
	h.Held += held
}

// Share returns which part of the blocked time at the root the holder caused, from 0 to 1. The shares of holders of a pool overlap.
func (inc *Incident) Share(h *Holder) float64 {
	return float64(h.Blocked) / float64(max(inc.Root().Time, 1))
}

// Root returns the lock after which the incident is named: of a deadlock, the one of the cycle with most blocked time.
func (inc *Incident) Root() *Lock {
	for i := range inc.Locks {
		if inc.Locks[i].ID == inc.key {
			return &inc.Locks[i]
		}
	}
	return &inc.Locks[0]
}

// Sum counts incidents and adds up their blocked time.
type Sum struct {
	Count uint64
	Time  time.Duration
}

func (s *Sum) add(d time.Duration) {
	s.Count++
	s.Time += d
}

// Found is what was found in a window.
type Found struct {
	Incidents []*Incident   // that are reported, deadlocks first, then by blocked time
	Reported  Sum           // of these
	Rest      Sum           // incidents that are over and not reported
	Open      Sum           // incidents that are not over yet, so far
	Starved   time.Duration // of the waits for carriers that count, in the window
}
