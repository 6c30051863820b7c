// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Aggregate sums up the waits of all threads that ended within a period. An agent in aggregated mode sends it instead of events. Each wait is
// counted in one aggregate of a session, so aggregates add up.
type Aggregate struct {
	From, To Time     // From is the To of the previous aggregate
	Scale    int32    // of all histograms, -10 to 20
	Series   []Series // series of the same kind, class and stack add up
}

// Series is the waits of one kind for locks of one class at one place in the code.
type Series struct {
	Kind     Kind // of the event that begins such a wait; IsWait
	Overflow bool // waits of all classes and places beyond the agent's limit of series; Class and Stack are 0
	Class    ClassID
	Stack    StackID
	Sum, Max int64  // ns
	Zero     uint64 // waits of 0 ns

	// The other waits, as in OpenTelemetry's exponential histogram: Buckets[i] counts those longer than 2**((Offset+i) / 2**Scale) ns and
	// not longer than 2**((Offset+i+1) / 2**Scale) ns.
	Offset  int32
	Buckets []uint64
}

// Count returns the number of waits.
func (s *Series) Count() uint64 {
	n := s.Zero
	for _, b := range s.Buckets {
		n += b
	}
	return n
}

// State returns the state of a thread in a wait that begins with an event of the kind, or StateUnknown if the kind begins no wait. A series of
// KindWaited covers threads that left a wait set and do not own the monitor yet; the time they were blocked meanwhile is counted in
// KindContendedEnter.
func (k Kind) State() State {
	switch k {
	case KindContendedEnter:
		return StateBlocked
	case KindWait:
		return StateWaiting
	case KindWaited:
		return StateReentering
	case KindJoinStart:
		return StateJoining
	case KindSleepStart:
		return StateSleeping
	case KindPark:
		return StateParked
	default:
		return StateUnknown
	}
}

// IsWait reports whether an event of the kind begins a wait, so whether there are series of it.
func (k Kind) IsWait() bool { return k.State() != StateUnknown }
