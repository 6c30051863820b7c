// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Interval returns an interval of this window.
func (w *Window) Interval(ref jvmthread.IntervalRef) (jvmthread.Interval, bool) {
	l, i := w.place(ref)
	if l < 0 {
		return jvmthread.Interval{}, false
	}
	return w.Lanes[l].Intervals.At(i), true
}

// Doing returns the interval of a thread at a time within this window.
func (w *Window) Doing(id jvmthread.ThreadID, at jvmthread.Time) (jvmthread.Interval, bool) {
	l := w.lane(id)
	if l == nil {
		return jvmthread.Interval{}, false
	}
	i := l.at(at)
	if i == l.Intervals.Len() || l.Intervals.Start(i) > at {
		return jvmthread.Interval{}, false
	}
	return l.Intervals.At(i), true
}

// NextInCycle returns the deadlocked interval, in this window, of the thread that a deadlocked interval waits for.
func (w *Window) NextInCycle(iv jvmthread.Interval) (jvmthread.IntervalRef, bool) {
	if iv.State != jvmthread.StateDeadlocked {
		return jvmthread.IntervalRef{}, false
	}
	l := w.lane(iv.Peer)
	if l == nil || l.Hidden || l.Intervals.Len() == 0 {
		return jvmthread.IntervalRef{}, false
	}
	last := l.Intervals.At(l.Intervals.Len() - 1)
	if last.Cycle != iv.Cycle || !l.Kept(l.Intervals.Len()-1) {
		return jvmthread.IntervalRef{}, false
	}
	return jvmthread.IntervalRef{Thread: last.Thread, Seq: last.Seq}, true
}

// detail contains the details of the interval with the given number.
type detail struct {
	seq jvmthread.Seq
	jvmthread.Detail
}

// Detail returns the details of an interval of the window.
func (w *Window) Detail(iv jvmthread.Interval) jvmthread.Detail {
	if l := w.lane(iv.Thread); l != nil {
		if d := l.Detail(iv.Seq); d != nil {
			return *d
		}
	}
	return jvmthread.Detail{}
}

// Detail returns the details of an interval of the lane; nil: none.
func (l *Lane) Detail(seq jvmthread.Seq) *jvmthread.Detail {
	if len(l.details) == 0 {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.details, seq, func(d detail, seq jvmthread.Seq) int { return cmp.Compare(d.seq, seq) })
	if !ok {
		return nil
	}
	return &l.details[i].Detail
}

// Target is the span that a link points at: the span of an interval in a window, or of its thread if the interval has no span.
type Target struct {
	Window jvmthread.Time // start of the window
	Ref    jvmthread.IntervalRef
	Folded bool // the interval has no span; link to the thread's span
}

// Target finds the span of an interval at a time, in this window or one of the windows just before it. It returns false if there is none.
func (w *Window) Target(ref jvmthread.IntervalRef, at jvmthread.Time) (Target, bool) {
	if at >= w.Start {
		l := w.lane(ref.Thread)
		if l == nil || l.Hidden {
			return Target{}, false
		}
		i := l.Intervals.Index(ref.Seq)
		return Target{Window: w.Start, Ref: ref, Folded: i < 0 || !l.Kept(i)}, true
	}
	for i := len(w.past) - 1; i >= 0; i-- {
		if p := &w.past[i]; at >= p.Start {
			return p.target(ref)
		}
	}
	return Target{}, false
}

// maxPast is the number of earlier windows that a link can refer to. A cause is rarely older than the previous window.
const maxPast = 4

// Past records which spans of an earlier window exist.
type Past struct {
	Start     jvmthread.Time
	threads   []jvmthread.ThreadID    // that have a span, ascending
	all       bool                    // every interval of these threads has a span
	intervals []jvmthread.IntervalRef // otherwise the intervals that have a span, ascending
}

// held returns the bytes in use.
func (p *Past) held() int {
	return 8*cap(p.threads) + int(unsafe.Sizeof(jvmthread.IntervalRef{}))*cap(p.intervals)
}

func (w *Window) asPast() Past {
	p := Past{Start: w.Start, all: !w.selected}
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		p.threads = append(p.threads, l.Thread)
		if p.all {
			continue
		}
		for i := range l.Intervals.Len() {
			if l.Kept(i) {
				p.intervals = append(p.intervals, jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals.Seq(i)})
			}
		}
	}
	return p
}

func (p *Past) target(ref jvmthread.IntervalRef) (Target, bool) {
	if _, ok := slices.BinarySearch(p.threads, ref.Thread); !ok {
		return Target{}, false
	}
	_, ok := slices.BinarySearchFunc(p.intervals, ref, compareRefs)
	return Target{Window: p.Start, Ref: ref, Folded: !ok && !p.all}, true
}

// Earlier returns the span of the same interval in the previous window, if the interval began before this window. In that one, a deadlock that was
// found in this one is part of the interval before.
func (w *Window) Earlier(iv jvmthread.Interval) (Target, bool) {
	if iv.Start >= w.Start || len(w.past) == 0 {
		return Target{}, false
	}
	ref := jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}
	if l := w.lane(iv.Thread); l != nil && l.Intervals.Index(iv.Seq) > 0 {
		ref.Seq--
	}
	t, ok := w.past[len(w.past)-1].target(ref)
	return t, ok && !t.Folded
}

func compareRefs(a, b jvmthread.IntervalRef) int {
	return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Seq, b.Seq))
}

// place returns the indices of the lane of an interval and of the interval in that lane. lane is -1 if the interval is not in the window.
func (w *Window) place(ref jvmthread.IntervalRef) (lane, at int) {
	lane = w.laneIndex(ref.Thread)
	if lane < 0 {
		return -1, 0
	}
	if at = w.Lanes[lane].Intervals.Index(ref.Seq); at < 0 {
		return -1, 0
	}
	return lane, at
}

// lane returns a thread's lane, or nil.
func (w *Window) lane(id jvmthread.ThreadID) *Lane {
	if i := w.laneIndex(id); i >= 0 {
		return w.Lanes[i]
	}
	return nil
}

// laneIndex returns the index of a thread's lane, or -1.
func (w *Window) laneIndex(id jvmthread.ThreadID) int {
	if next := w.recent.Get(uint32(id), id); next > 0 {
		return int(next - 1)
	}
	low, high := 0, len(w.Lanes)
	for low < high { // three times as fast as slices.BinarySearchFunc, and called for every hold
		if mid := (low + high) / 2; w.Lanes[mid].Thread < id {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == len(w.Lanes) || w.Lanes[low].Thread != id {
		return -1
	}
	w.recent.Put(uint32(id), id, int32(low+1))
	return low
}
