// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "github.com/weft-otel/weft/internal/jvmthread"

// Cause is what ended a wait.
type Cause uint8

// The causes.
const (
	CauseNone Cause = iota // the wait is open or continues, or needs no external cause
	CauseHandoff
	CauseNotify
	CauseNotifyAll
	CauseUnpark
	CauseJoin
	CauseInterrupt
	CauseTimeout
	CauseDeadlock // the wait became part of a deadlock
	CauseUnknown
	CauseEnd // the session ended first; CauseOf never returns it
	causeEnd
)

// NumCauses is one more than the largest cause, for tables indexed by cause.
const NumCauses = int(causeEnd)

var causeNames = [causeEnd]string{
	"none", "handoff", "notify", "notify_all", "unpark", "join", "interrupt", "timeout", "deadlock", "unknown", "end",
}

// String returns the name of the cause as used in attributes.
func (c Cause) String() string {
	if c < causeEnd {
		return causeNames[c]
	}
	return "invalid"
}

var causeByKind = [jvmthread.NumInteractionKinds]Cause{
	jvmthread.InteractionHandoff:   CauseHandoff,
	jvmthread.InteractionNotify:    CauseNotify,
	jvmthread.InteractionNotifyAll: CauseNotifyAll,
	jvmthread.InteractionInterrupt: CauseInterrupt,
	jvmthread.InteractionJoin:      CauseJoin,
	jvmthread.InteractionUnpark:    CauseUnpark,
}

// CauseOf returns what ended a wait, given the interactions that released its thread.
func CauseOf(iv *jvmthread.Interval, causes []jvmthread.Interaction) Cause {
	if len(causes) > 0 {
		return causeByKind[causes[0].Kind]
	}
	switch {
	case iv.Marks.Has(jvmthread.MarkTimedOut):
		return CauseTimeout
	case iv.Marks.Has(jvmthread.MarkWillContinue) && iv.State != jvmthread.StateDeadlocked:
		return CauseDeadlock
	case iv.Marks.Has(jvmthread.MarkWillContinue): // another thread left the cycle
		return CauseNone
	case iv.Marks.Has(jvmthread.MarkInterrupted):
		return CauseInterrupt
	case iv.Marks.Has(jvmthread.MarkOpen), iv.Marks.Has(jvmthread.MarkSeen), iv.State == jvmthread.StateSleeping, iv.State == jvmthread.StateReentering,
		iv.State == jvmthread.StateQueued:
		return CauseNone
	}
	return CauseUnknown
}
