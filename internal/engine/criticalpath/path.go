// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// Kind says why a segment is on the path.
type Kind uint8

// The kinds of segments.
const (
	KindUnknown        Kind = iota // history is missing
	KindRun                        // the thread ran, or was ready to
	KindSleep                      // in Thread.sleep, to its end
	KindSuspended                  // by Thread.suspend
	KindBlockedUnknown             // blocked by an owner that is not known
	KindWaitUnknown                // waited, joined or was parked, and what ended it is not known, or comes after the path
	KindTimer                      // waited until the time was over
	KindWakeLatency                // the cause had happened, its effect had not
	KindStartLatency               // Thread.start was called, the thread did not run yet
	KindDeadlock                   // part of a deadlock: the path ends here
	KindCycle                      // waits for itself, by what is known
	KindTooDeep                    // the chain of waits is longer than the limit
	KindCut                        // the path has more pieces than the limit
	kindEnd
)

var kindNames = [kindEnd]string{
	"unknown", "run", "sleep", "suspended", "blocked_unknown", "wait_unknown", "timer", "wake_latency", "start_latency", "deadlock",
	"cycle", "too_deep", "cut",
}

// NumKinds is one more than the largest kind, for tables indexed by kind.
const NumKinds = int(kindEnd)

// String returns the kind's name, as attributes carry it.
func (k Kind) String() string {
	if k < kindEnd {
		return kindNames[k]
	}
	return "invalid"
}

// Segment is a piece [Start, End) of a path.
type Segment struct {
	Start, End jvmthread.Time
	Thread     jvmthread.ThreadID
	Seq        jvmthread.Seq // the interval of which it is a piece; NoSeq where there is none
	Via        int32         // index into the path's Waits: the innermost wait through which it was reached, or NoWait
	Kind       Kind
}

// NoWait is the Via of what the path's own thread does, and the Parent of its own waits.
const NoWait int32 = -1

// Wait is a wait on a path. With its parents it is the chain of waits that leads from the path's thread to a segment.
type Wait struct {
	Ref    jvmthread.IntervalRef
	Lock   jvmthread.LockID
	Parent int32 // index of the wait that led to this one, always smaller than its own; or NoWait
	Stack  jvmthread.StackID
	State  jvmthread.State
	last   int32 // the newest wait of which it is the parent
}

// Path is what a thread had to wait for over [Start, End). Its segments touch and tile that time. A Path can be used again: its memory is
// kept. The zero Path is ready for use.
type Path struct {
	Thread     jvmthread.ThreadID
	Start, End jvmthread.Time
	Segments   []Segment // in the order of time
	Waits      []Wait
	Visited    int // pieces of intervals that were looked at
	Cycles     int // segments of KindCycle before they were joined
	TooDeep    int // segments of KindTooDeep before they were joined
	total      []jvmthread.Time
	top        int32 // the newest wait of the path's own thread
	groups     map[Group]int32
}

func (p *Path) reset(thread jvmthread.ThreadID, lo, hi jvmthread.Time) {
	p.Thread, p.Start, p.End = thread, lo, max(lo, hi)
	p.Segments, p.Waits = p.Segments[:0], p.Waits[:0]
	p.Visited, p.Cycles, p.TooDeep, p.top = 0, 0, 0, NoWait
}

// Chain yields the waits that lead to a segment, the innermost first.
func (p *Path) Chain(s Segment) func(yield func(Wait) bool) {
	return func(yield func(Wait) bool) {
		for at := s.Via; at >= 0; at = p.Waits[at].Parent {
			if !yield(p.Waits[at]) {
				return
			}
		}
	}
}

// add appends a segment, or makes the last one longer.
func (p *Path) add(s Segment) {
	switch s.Kind {
	case KindCycle:
		p.Cycles++
	case KindTooDeep:
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

// wait returns the index of a wait under a parent. A wait that was left and comes again at once is the same.
func (p *Path) wait(iv *jvmthread.Interval, parent int32) int32 {
	last := &p.top
	if parent >= 0 {
		last = &p.Waits[parent].last
	}
	if at := *last; at >= 0 && p.Waits[at].Ref.Seq == iv.Seq && p.Waits[at].Ref.Thread == iv.Thread {
		return at
	}
	at := int32(len(p.Waits))
	*last = at
	p.Waits = append(p.Waits, Wait{
		Ref: jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, Lock: iv.Lock, Parent: parent, Stack: iv.Stack, State: iv.State, last: NoWait,
	})
	return at
}
