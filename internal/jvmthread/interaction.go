// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "time"

// InteractionKind is how one thread unblocked another.
type InteractionKind uint8

// The kinds of interactions.
const (
	InteractionNone InteractionKind = iota
	InteractionStart
	InteractionHandoff
	InteractionNotify
	InteractionNotifyAll
	InteractionInterrupt
	InteractionJoin
	InteractionUnpark
	interactionEnd
)

var interactionNames = [interactionEnd]string{
	"none", "start", "handoff", "notify", "notify_all", "interrupt", "join", "unpark",
}

// NumInteractionKinds is one more than the largest kind, for tables indexed by kind.
const NumInteractionKinds = int(interactionEnd)

// String returns the kind's name, as attributes carry it.
func (k InteractionKind) String() string { return nameOf(interactionNames[:], k, "invalid") }

// Call returns the kind of event that is the call of which the interaction is the effect, KindNone if another kind of event causes it.
func (k InteractionKind) Call() Kind {
	switch k { //exhaustive:enforce
	case InteractionStart:
		return KindStartCalled
	case InteractionInterrupt:
		return KindInterruptCalled
	case InteractionNotify:
		return KindNotify
	case InteractionNotifyAll:
		return KindNotifyAll
	case InteractionNone, InteractionHandoff, InteractionJoin, InteractionUnpark:
	}
	return KindNone
}

// Confidence is how certain a binding is.
type Confidence uint8

// The confidences, most certain first.
const (
	ConfidenceExact     Confidence = iota // no other binding is possible
	ConfidenceFIFO                        // the longest waiter: HotSpot's wait set is first in, first out
	ConfidenceInferred                    // the last known owner; another thread may have owned the lock unseen since
	ConfidenceAmbiguous                   // several bindings fit the events
	confidenceEnd
)

var confidenceNames = [confidenceEnd]string{"exact", "fifo", "inferred", "ambiguous"}

// String returns the confidence's name, as attributes carry it.
func (c Confidence) String() string { return nameOf(confidenceNames[:], c, "invalid") }

// IntervalRef identifies an interval of a thread.
type IntervalRef struct {
	Thread ThreadID
	Seq    Seq
}

// Interaction is one thread unblocking another. From is the interval in which the cause happened, To the interval that it ended (for a start:
// the first interval of the new thread).
type Interaction struct {
	CauseTime  Time // never later than EffectTime
	EffectTime Time
	From, To   IntervalRef
	Lock       LockID  // zero for a start
	Stack      StackID // where the cause was, if a stack was taken there
	Kind       InteractionKind
	Confidence Confidence
}

// Latency returns the time from the cause to its effect, which is never negative.
func (ia Interaction) Latency() time.Duration { return ia.EffectTime.Sub(ia.CauseTime) }
