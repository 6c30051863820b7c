// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxPast is how many windows back a link can reach. A cause is rarely earlier than the window before: only if nobody ran for so long.
const maxPast = 4

// Past is what has to be remembered of a window whose spans were sent: which of them exist.
type Past struct {
	Start, End jvmthread.Time
	threads    []jvmthread.ThreadID    // that have a span, ascending
	all        bool                    // every interval of these threads has a span
	intervals  []jvmthread.IntervalRef // else those that have one, ascending
}

func (w *Window) asPast() Past {
	p := Past{Start: w.Start, End: w.End, all: !w.selected}
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		p.threads = append(p.threads, l.Thread)
		if p.all {
			continue
		}
		for i := range l.Intervals {
			if l.Kept(i) {
				p.intervals = append(p.intervals, jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals[i].Seq})
			}
		}
	}
	return p
}

// Target is the span that a link points at: that of an interval in a window, or that of its thread if the interval has none.
type Target struct {
	Window jvmthread.Time // start of the window
	Ref    jvmthread.IntervalRef
	Folded bool // the interval has no span: point at the thread's
}

// Target finds the span of an interval at a time: in this window, or in one of those just before it. It returns false if there is none.
func (w *Window) Target(ref jvmthread.IntervalRef, at jvmthread.Time) (Target, bool) {
	if at >= w.Start {
		l := w.lane(ref.Thread)
		if l == nil || l.Hidden {
			return Target{}, false
		}
		i := l.index(ref.Seq)
		return Target{Window: w.Start, Ref: ref, Folded: i < 0 || !l.Kept(i)}, true
	}
	for i := len(w.past) - 1; i >= 0; i-- {
		if p := &w.past[i]; at >= p.Start {
			return p.target(ref)
		}
	}
	return Target{}, false
}

func (p *Past) target(ref jvmthread.IntervalRef) (Target, bool) {
	if _, ok := slices.BinarySearch(p.threads, ref.Thread); !ok {
		return Target{}, false
	}
	_, ok := slices.BinarySearchFunc(p.intervals, ref, compareRefs)
	return Target{Window: p.Start, Ref: ref, Folded: !ok && !p.all}, true
}

func compareRefs(a, b jvmthread.IntervalRef) int {
	return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Seq, b.Seq))
}

// Earlier finds the span of the piece of an interval in the window before this one, if the interval began before this window.
func (w *Window) Earlier(iv jvmthread.Interval) (Target, bool) {
	if iv.Start >= w.Start || len(w.past) == 0 {
		return Target{}, false
	}
	t, ok := w.past[len(w.past)-1].target(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	return t, ok && !t.Folded
}

// NextInCycle finds the deadlocked interval of the thread that a deadlocked one waits for, in this window.
func (w *Window) NextInCycle(iv jvmthread.Interval) (jvmthread.IntervalRef, bool) {
	if iv.State != jvmthread.StateDeadlocked {
		return jvmthread.IntervalRef{}, false
	}
	l := w.lane(iv.Peer)
	if l == nil || l.Hidden || len(l.Intervals) == 0 {
		return jvmthread.IntervalRef{}, false
	}
	last := l.Intervals[len(l.Intervals)-1]
	if last.Cycle != iv.Cycle || !l.Kept(len(l.Intervals)-1) {
		return jvmthread.IntervalRef{}, false
	}
	return jvmthread.IntervalRef{Thread: last.Thread, Seq: last.Seq}, true
}

// Doing returns the interval of a thread at a time of this window.
func (w *Window) Doing(id jvmthread.ThreadID, at jvmthread.Time) (jvmthread.Interval, bool) {
	l := w.lane(id)
	if l == nil {
		return jvmthread.Interval{}, false
	}
	i := l.at(at)
	if i == len(l.Intervals) || l.Intervals[i].Start > at {
		return jvmthread.Interval{}, false
	}
	return l.Intervals[i], true
}

// Interval returns an interval of this window.
func (w *Window) Interval(ref jvmthread.IntervalRef) (jvmthread.Interval, bool) {
	l, i := w.place(ref)
	if l < 0 {
		return jvmthread.Interval{}, false
	}
	return w.Lanes[l].Intervals[i], true
}
