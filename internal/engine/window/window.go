// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package window answers: which slice of a session becomes one trace, and what of it is shown? A Builder collects the intervals and
// interactions of a session and cuts them into windows; Select decides, within a budget, which intervals get a span of their own, and
// folds the others into exact sums.
package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Cut says why a window ended.
type Cut string

// The reasons for the end of a window.
const (
	CutTime     Cut = "time"     // its length was over
	CutSize     Cut = "size"     // it held too much
	CutEnd      Cut = "end"      // the session ended
	CutLost     Cut = "lost"     // the JVM or the connection to it was lost
	CutShutdown Cut = "shutdown" // the collector was stopped
)

// Last reports whether no window comes behind one that was cut for this reason.
func (c Cut) Last() bool { return c == CutEnd || c == CutLost || c == CutShutdown }

// Window is a slice [Start, End) of a session. What it points at belongs to its Builder and is good until the next one is cut.
type Window struct {
	Start, End   jvmthread.Time
	Cut          Cut
	Lanes        []*Lane                  // by thread id
	Interactions []jvmthread.Interaction  // whose effect is in the window, by the interval they let go on
	Holds        []jvmthread.Hold         // that were seen in the window or before it, by lock and time
	Deadlocks    []deadlock.Found         // that were confirmed in the window
	Hints        []deadlock.Hint          // that came up in the window
	LostNotifies []interaction.LostNotify // of waits that timed out in the window
	Locks        []LockStats              // by blocked time, the longest first
	Totals       Totals                   // of all lanes
	Verdict      *Verdict                 // what a Finder found; nil: nothing was asked
	Events       uint64
	Lost         uint64                                  // events that the agent could not keep
	Missed       uint64                                  // events that never came here
	past         []Past                                  // the windows before, the newest last
	folded       Folded                                  // threads without a span of their own
	recent       recent.Cache[jvmthread.ThreadID, int32] // indices of lanes, plus one
	selected     bool                                    // not everything has a span
}

// Lane is one thread in a window.
type Lane struct {
	Thread    jvmthread.ThreadID
	Intervals []jvmthread.Interval // in order, without a gap; the first may begin before the window
	Totals    Totals
	Folded    Folded                  // of intervals without a span of their own
	Hidden    bool                    // the thread itself has no span
	keep      []bool                  // by interval; nil: all
	causes    []jvmthread.Interaction // that let this thread go on
	details   []detail                // of the intervals that have any, in order
	sums      []HolderTimes           // of prefixes, once they were asked for
	cursor    int                     // where the last search for a holder ended
}

// Totals are exact sums by state: of intervals that began in the window, and of their time within it.
type Totals [jvmthread.NumStates]Sum

// Sum counts intervals and adds up their time.
type Sum struct {
	Count uint64
	Time  time.Duration
}

// Folded is what has no span of its own.
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

// time is that of all states.
func (t *Totals) time() (sum time.Duration) {
	for s := range t {
		sum += t[s].Time
	}
	return sum
}

// Clip returns the part of an interval that lies in the window.
func (w *Window) Clip(iv jvmthread.Interval) (start, end jvmthread.Time) {
	return min(max(iv.Start, w.Start), w.End), min(iv.End, w.End)
}

// Length is the exact time that an interval takes of the window.
func (w *Window) Length(iv jvmthread.Interval) time.Duration {
	start, end := w.Clip(iv)
	return end.Sub(start)
}

// Kept reports whether the lane's interval i gets a span.
func (l *Lane) Kept(i int) bool { return !l.Hidden && (l.keep == nil || l.keep[i]) }

// FoldedThreads is what the threads without a span of their own come to: how many, and their time in the window.
func (w *Window) FoldedThreads() Folded { return w.folded }
