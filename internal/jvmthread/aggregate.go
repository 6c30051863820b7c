// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Aggregate sums up the waits of all threads that ended within a span of time. It is what an agent in aggregated mode tells instead of events.
// A wait is counted in one aggregate of a session, so aggregates add up.
type Aggregate struct {
	From, To Time     // From is the To of the aggregate before
	Scale    int32    // of all histograms, -10 to 20
	Series   []Series // those of the same kind, class and stack add up
}

// Series is the waits of one kind for locks of one class at one place in the code.
type Series struct {
	Kind     Kind // of the event that begins such a wait; IsWait
	Overflow bool // there was no room for more series: waits of different classes and places, of which Class and Stack say nothing
	Class    ClassID
	Stack    StackID
	Sum, Max int64  // ns
	Zero     uint64 // waits of 0 ns

	// The others, as OpenTelemetry's exponential histogram has them: Buckets[i] counts those longer than 2**((Offset+i) / 2**Scale) ns
	// and not longer than 2**((Offset+i+1) / 2**Scale) ns.
	Offset  int32
	Buckets []uint64
}

// Count is the number of waits.
func (s *Series) Count() uint64 {
	n := s.Zero
	for _, b := range s.Buckets {
		n += b
	}
	return n
}

// State is what a thread does in the waits that begin with an event of the kind; StateUnknown if no wait begins with it. A series of
// KindWaited is of threads that left a wait set and do not own the monitor yet; what they were blocked meanwhile is not in it, but in
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

// IsWait reports whether a wait begins with an event of the kind: whether there are series of it.
func (k Kind) IsWait() bool { return k.State() != StateUnknown }
