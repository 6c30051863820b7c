// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package window cuts a session into the slices that become traces. A Builder collects intervals and interactions and cuts them into
// windows. Select decides, within a budget, which intervals get a span, and folds the others into exact sums.
package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Cut is the reason for the end of a window, or of a session.
type Cut string

// The reasons for the end of a window.
const (
	CutTime     Cut = "time"     // it reached its length
	CutSize     Cut = "size"     // it reached its limit of intervals or events
	CutEnd      Cut = "end"      // the session ended
	CutMemory   Cut = "memory"   // there was too little memory
	CutLost     Cut = "lost"     // the JVM or the connection to it was lost
	CutShutdown Cut = "shutdown" // the collector was stopped

	CutFailed Cut = "failed" // a session ended because of a defect in Weft; no window has it
)

// Last reports whether a window cut for this reason is the last one.
func (c Cut) Last() bool { return c == CutEnd || c == CutLost || c == CutShutdown }

// Window is a slice [Start, End) of a session. Its memory belongs to its Builder and is valid until the next window is cut.
type Window struct {
	Start, End   jvmthread.Time
	Cut          Cut
	Lanes        []*Lane            // by thread id
	Holds        []jvmthread.Hold   // observed in the window or before it, by lock and time
	Mounts       []jvmthread.Hold   // virtual threads that kept a carrier for long, see timeline.LongMount; by their ends
	Deadlocks    []deadlock.Found   // that were confirmed in the window
	Hints        []deadlock.Hint    // found in the window
	LostNotifies []lostnotify.Found // found in the window, if that is wanted
	Locks        []LockStats        // by blocked time, longest first
	Totals       Totals             // of all live threads
	Waits        Waits              // of all live threads
	Verdict      *Verdict           // of a Finder; nil: not requested
	Events       uint64
	Lost         uint64 // events that the agent had to drop
	Missed       uint64 // events that did not arrive
	Shed         uint64 // those of them that were dropped to save memory
	past         []Past // previous windows, newest last
	silent       Silent
	folded       Folded                                  // threads without a span
	recent       recent.Cache[jvmthread.ThreadID, int32] // indices of lanes, plus one
	selected     bool                                    // some intervals have no span
	minor        bool                                    // FoldMinor was called
	did          Activities                              // scratch of Holders
	causes       []jvmthread.Interaction                 // the same
	longestShare jvmthread.Time                          // length of the longest hold that others of the same lock overlap
	longestMount jvmthread.Time                          // of Mounts
}

// Lane is one thread in a window. If it is found only now that a deadlock began in the previous window, its first interval ended there.
type Lane struct {
	Thread    jvmthread.ThreadID
	Intervals jvmthread.Intervals // without gaps; the first may begin before the window
	causes    []cause             // by the interval they ended
	details   []detail            // of intervals that have details, in order
	Usages    []jvmthread.Usage   // that ended in the window, in order; they do not overlap
	Totals    Totals
	Waits     Waits
	Stopped   time.Duration // by other threads that it waited for: see Stops
	Folded    Folded        // intervals without a span
	Contended Folded        // those of them that are contended waits
	Hidden    bool          // the thread itself has no span
	pinned    []jvmthread.Seq
	keep      []bool        // by interval; nil: all
	sums      []HolderTimes // of prefixes, computed on demand
	cursor    int           // where the last search for a holder ended

	causeCursor int // where the last search for a cause ended
}

// Totals are exact sums by state: the number of intervals that began in the window, and the time within it.
type Totals [jvmthread.NumStates]Sum

// Silent sums up threads without an event in the window that were in the same state all the time, and for which no thread is known to have waited.
type Silent struct {
	Threads int
	Totals  Totals // none of their intervals began in the window
}

// Waits are the same sums by what the thread waited for. A deadlock continues the wait that became part of it.
type Waits [jvmthread.NumWaits]Sum

// Contended returns the sum of all contended waits.
func (t *Waits) Contended() (sum Sum) {
	for kind := range t {
		if jvmthread.Wait(kind).Contended() {
			sum.Count += t[kind].Count
			sum.Time += t[kind].Time
		}
	}
	return sum
}

// add adds the other sums.
func (t *Waits) add(other *Waits) {
	for k := range t {
		t[k].Count += other[k].Count
		t[k].Time += other[k].Time
	}
}

// Sum counts intervals and adds up their time.
type Sum struct {
	Count uint64
	Time  time.Duration
}

// Folded sums up intervals or threads without a span.
type Folded struct {
	Count uint64
	Time  time.Duration
}

// add adds the other totals.
func (t *Totals) add(other *Totals) {
	for s := range t {
		t[s].Count += other[s].Count
		t[s].Time += other[s].Time
	}
}

// Time returns the sum of all states.
func (t *Totals) Time() (sum time.Duration) {
	for s := range t {
		sum += t[s].Time
	}
	return sum
}

// Clip returns the part of an interval within the window. It is empty for one that ended before: see Lane.
func (w *Window) Clip(iv jvmthread.Interval) (start, end jvmthread.Time) {
	return w.clip(iv.Start, iv.End)
}

func (w *Window) clip(start, end jvmthread.Time) (from, to jvmthread.Time) {
	from = min(max(start, w.Start), w.End)
	return from, max(from, min(end, w.End))
}

// Length returns the exact length of an interval within the window.
func (w *Window) Length(iv jvmthread.Interval) time.Duration { return w.length(iv.Start, iv.End) }

func (w *Window) length(start, end jvmthread.Time) time.Duration {
	start, end = w.clip(start, end)
	return end.Sub(start)
}

// Kept reports whether the lane's interval i gets a span.
func (l *Lane) Kept(i int) bool { return !l.Hidden && (l.keep == nil || l.keep[i]) }

// Silent returns the sums of the live threads without a lane.
func (w *Window) Silent() Silent { return w.silent }

// FoldedThreads returns the number of threads with a lane that have no span, and their time in the window.
func (w *Window) FoldedThreads() Folded { return w.folded }
