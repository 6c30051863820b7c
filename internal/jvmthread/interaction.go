// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "time"

// InteractionKind says how one thread let another go on.
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
func (k InteractionKind) String() string {
	if k < interactionEnd {
		return interactionNames[k]
	}
	return "invalid"
}

// Confidence says how sure a binding is.
type Confidence uint8

// The confidences, from the surest on.
const (
	ConfidenceExact     Confidence = iota // no other binding is possible
	ConfidenceFIFO                        // HotSpot's wait set is first in, first out: so this one it was
	ConfidenceInferred                    // the last known owner; one that came and went unseen is possible
	ConfidenceAmbiguous                   // several bindings fit what was seen
	confidenceEnd
)

var confidenceNames = [confidenceEnd]string{"exact", "fifo", "inferred", "ambiguous"}

// String returns the confidence's name, as attributes carry it.
func (c Confidence) String() string {
	if c < confidenceEnd {
		return confidenceNames[c]
	}
	return "invalid"
}

// IntervalRef names an interval of a thread.
type IntervalRef struct {
	Thread ThreadID
	Seq    Seq
}

// Interaction is: From let To go on. From is the interval in which the cause happened, To the interval that ended by it (for a start: the
// first interval of the new thread).
type Interaction struct {
	CauseTime  Time // never later than EffectTime
	EffectTime Time
	From, To   IntervalRef
	Lock       LockID  // zero for a start
	Stack      StackID // where the cause was, if a stack was taken there
	Kind       InteractionKind
	Confidence Confidence
}

// Latency is the time from the cause to its effect: zero or more.
func (ia Interaction) Latency() time.Duration { return ia.EffectTime.Sub(ia.CauseTime) }
