// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Kind states why a segment is on the path.
type Kind uint8

// The kinds of segments.
const (
	KindUnknown        Kind = iota // history is missing
	KindRun                        // the thread was running or ready to run
	KindSleep                      // in Thread.sleep, not interrupted
	KindSuspended                  // by Thread.suspend
	KindBlockedUnknown             // blocked by an unknown owner
	KindWaitUnknown                // waiting, joining or parked; the cause of its end is unknown or after the path
	KindTimer                      // a wait that timed out
	KindWakeLatency                // between cause and effect
	KindStartLatency               // between the call of Thread.start and the start of the thread
	KindDeadlock                   // part of a deadlock: the path ends here
	KindCycle                      // the known waits form a cycle
	KindTooDeep                    // the chain of waits is longer than the limit
	KindCut                        // the path has more pieces than the limit
	KindIdle                       // waiting for a task
	KindRunQueue                   // ready to run, and waiting for a carrier
	kindEnd
)

var kindNames = [kindEnd]string{
	"unknown", "run", "sleep", "suspended", "blocked_unknown", "wait_unknown", "timer", "wake_latency", "start_latency", "deadlock",
	"cycle", "too_deep", "cut", "idle",
	"run_queue",
}

// String returns the name of the kind as used in attributes.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return "invalid"
}

// kindOf is the kind of an interval in each state, KindUnknown for an invalid one. kindEnd marks the waits, whose kind depends on their cause.
var kindOf = [math.MaxUint8 + 1]Kind{
	jvmthread.StateUnknown:    KindUnknown,
	jvmthread.StateRunnable:   KindRun,
	jvmthread.StateSleeping:   KindSleep, // a wait if it was interrupted
	jvmthread.StateSuspended:  KindSuspended,
	jvmthread.StateDead:       KindUnknown,
	jvmthread.StateBlocked:    kindEnd,
	jvmthread.StateReentering: kindEnd,
	jvmthread.StateWaiting:    kindEnd,
	jvmthread.StateJoining:    kindEnd,
	jvmthread.StateParked:     kindEnd,
	jvmthread.StateDeadlocked: kindEnd,
	jvmthread.StateQueued:     KindRunQueue,
}

// Segment is a piece [Start, End) of a path.
type Segment struct {
	Start, End jvmthread.Time
	Thread     jvmthread.ThreadID
	Seq        jvmthread.Seq // the interval that it is a piece of, or NoSeq
	Via        int32         // index into the path's Waits: the innermost wait through which it was reached, or NoWait
	Kind       Kind
}

// NoWait is the Via of the activity of the path's own thread, and the Parent of its own waits.
const NoWait int32 = -1

// Wait is a wait on a path. With its parents it forms the chain of waits from the path's thread to a segment.
type Wait struct {
	Ref    jvmthread.IntervalRef
	Lock   jvmthread.LockID
	Parent int32 // index of the wait that led to this one, less than its own index, or NoWait
	Stack  jvmthread.StackID
	last   int32 // the newest child
	Kind   jvmthread.Wait
	State  jvmthread.State
}

// Path is what a thread had to wait for over [Start, End). Its segments are contiguous and cover that time. A Path can be reused to save
// memory. The zero Path is ready for use.
type Path struct {
	Thread     jvmthread.ThreadID
	Start, End jvmthread.Time
	Segments   []Segment // by time
	Waits      []Wait
	Visited    int // visited pieces of intervals
	TooDeep    int // segments of KindTooDeep before merging
	total      []jvmthread.Time
	top        int32 // the newest wait of the path's own thread
	groups     map[Group]int32
}

func (p *Path) reset(thread jvmthread.ThreadID, lo, hi jvmthread.Time) {
	p.Thread, p.Start, p.End = thread, lo, max(lo, hi)
	p.Segments, p.Waits = p.Segments[:0], p.Waits[:0]
	p.Visited, p.TooDeep, p.top = 0, 0, NoWait
}

// Chain yields the waits that lead to a segment, innermost first.
func (p *Path) Chain(s Segment) func(yield func(Wait) bool) {
	return func(yield func(Wait) bool) {
		for at := s.Via; at >= 0; at = p.Waits[at].Parent {
			if !yield(p.Waits[at]) {
				return
			}
		}
	}
}

// add appends a segment, or extends the last one.
func (p *Path) add(s Segment) {
	if s.Kind == KindTooDeep {
		p.TooDeep++
	}
	if n := len(p.Segments); n > 0 {
		last := &p.Segments[n-1]
		if last.Seq == s.Seq && last.Via == s.Via && last.Thread == s.Thread && last.Kind == s.Kind {
			last.End = s.End
			return
		}
	}
	p.Segments = append(p.Segments, s)
}

// wait returns the index of a wait under a parent. Returning to the newest wait of the parent does not add it again. The caller describes a
// new one.
func (p *Path) wait(ref jvmthread.IntervalRef, parent int32) (at int32, added bool) {
	last := &p.top
	if parent >= 0 {
		last = &p.Waits[parent].last
	}
	if at := *last; at >= 0 && p.Waits[at].Ref == ref {
		return at, false
	}
	at = int32(len(p.Waits))
	*last = at
	p.Waits = append(p.Waits, Wait{Ref: ref, Parent: parent, last: NoWait})
	return at, true
}
