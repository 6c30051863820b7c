// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Finder finds the critical paths of windows. It reuses its memory. One goroutine owns it.
type Finder struct {
	// Unbounded selects the path of the program, which leads backwards from the thread that ran last, instead of the path of one thread.
	Unbounded bool
	Chooser

	path    criticalpath.Path
	stuck   []jvmthread.ThreadID
	verdict Verdict
}

// Verdict states what made a thread of a window take so long.
type Verdict struct {
	Path      *criticalpath.Path
	Shares    []criticalpath.Share  // by class of lock: the time on the path reached through waits for it
	Savings   []criticalpath.Saving // by class of lock: how much earlier the path's thread would end without contention
	onPath    [][]jvmthread.Time    // by lane and interval; there may be more lanes than in the window
	graph     *criticalpath.Graph
	retiming  criticalpath.Retiming
	idleKnown bool // idle waits are known
	sites     []criticalpath.Share
}

// Sites returns the shares by class and call site. They are valid as long as the window.
func (v *Verdict) Sites() []criticalpath.Share {
	v.sites = v.Path.AppendShares(v.sites[:0], criticalpath.BySite)
	return v.sites
}

// FindSlacks computes the results of Slack. Call it first if slacks are needed.
func (v *Verdict) FindSlacks() { v.retiming.Slacks(v.Path.Thread) }

// Slack returns how much longer a wait could have lasted without delaying the path's thread. It returns false if the thread does not depend
// on the wait, or the cause of the wait is unknown.
func (w *Window) Slack(iv jvmthread.Interval) (time.Duration, bool) {
	if w.Verdict == nil {
		return 0, false
	}
	d, ok := w.Verdict.retiming.Slack(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	return time.Duration(d), ok
}

// maxPieces bounds the work for one path. A window of a million intervals has fewer pieces.
const maxPieces = 1 << 22

// NewFinder returns a Finder of bounded paths.
func NewFinder() *Finder {
	return &Finder{verdict: Verdict{graph: criticalpath.New(criticalpath.Limits{MaxPieces: maxPieces})}}
}

// Find stores the path of a thread as the verdict of the window; choose.go says which thread.
// The verdict is valid until the next call. Find does nothing if no thread is wanted or f is nil.
func (f *Finder) Find(w *Window) {
	w.Verdict = nil
	if f == nil {
		return
	}
	v, graph := &f.verdict, f.verdict.graph
	graph.Reset()
	for _, l := range w.Lanes {
		graph.AddLane(l.Thread, l.Intervals)
	}
	graph.AddInteractions(w.Interactions)
	graph.AddHolds(w.Holds)
	thread := f.thread(w)
	if thread == jvmthread.NoThread || w.End <= w.Start {
		return
	}
	end := w.End
	if l := w.lane(thread); l != nil && len(l.Intervals) > 0 {
		_, end = w.Clip(l.Intervals[len(l.Intervals)-1]) // the thread may have ended before the window
	}
	if f.Unbounded {
		graph.Unbounded(thread, w.Start, end, &f.path)
	} else {
		graph.Bounded(thread, w.Start, end, &f.path)
	}
	graph.Retime(w.Start, w.End, &v.retiming)
	v.Path = &f.path
	v.Shares = f.path.AppendShares(v.Shares[:0], criticalpath.ByClass)
	v.Savings = v.retiming.AppendSavings(v.Savings[:0], thread, criticalpath.ByClass)
	v.mark(w)
	v.idleKnown = f.findIdle(w)
	w.Verdict = v
}

// findIdle finds the idle waits. A wait is not idle if it is on the path of a thread that waited for a lock, or on the path of the window.
// findIdle follows the paths of all such threads. It returns false if that takes too long; then only waits that are idle by their kind are.
func (f *Finder) findIdle(w *Window) bool {
	f.stuck = f.stuck[:0]
	intervals := 0
	for _, l := range w.Lanes {
		intervals += len(l.Intervals)
		if l.Waits.Contended().Time > 0 {
			f.stuck = append(f.stuck, l.Thread)
		}
	}
	_, ok := f.verdict.graph.Reach(f.stuck, w.Start, w.End, idlePieces*intervals+1<<14)
	return ok
}

// idlePieces is the number of pieces per interval of a window that findIdle may visit.
const idlePieces = 4

// Idle reports whether the interval at an index of a lane is an idle wait: the thread had no task, or no thread that waited for a lock in the
// window depended on what this thread did next. It returns false if that is unknown. A contended wait is never idle.
func (w *Window) Idle(lane, at int) bool {
	switch wait := w.Lanes[lane].Intervals[at].Wait; {
	case wait.Idle():
		return true
	case wait.Contended():
		return false
	}
	return w.Verdict != nil && w.Verdict.idleKnown && w.Verdict.graph.IdleAt(lane, at)
}

// mark adds up the time on the path for each interval.
func (v *Verdict) mark(w *Window) {
	for len(v.onPath) < len(w.Lanes) {
		v.onPath = append(v.onPath, nil)
	}
	for i, l := range w.Lanes {
		v.onPath[i] = append(v.onPath[i][:0], make([]jvmthread.Time, len(l.Intervals))...)
	}
	for _, s := range v.Path.Segments {
		if l, at := w.place(jvmthread.IntervalRef{Thread: s.Thread, Seq: s.Seq}); l >= 0 {
			v.onPath[l][at] += s.End - s.Start
		}
	}
}

// OnPath returns how much of the interval at an index of a lane is on the critical path.
func (w *Window) OnPath(lane, at int) jvmthread.Time {
	if w.Verdict == nil {
		return 0
	}
	return w.Verdict.onPath[lane][at]
}

// PathTime returns the time on the critical path that was reached through blocks on locks of a class.
func (v *Verdict) PathTime(class jvmthread.ClassID) (sum jvmthread.Time) {
	for i := range v.Shares {
		if g := v.Shares[i].Group; g.Lock.Class == class && g.Kind.Contended() {
			sum += v.Shares[i].Time
		}
	}
	return sum
}

// Saving returns how much earlier the path's thread would end without contention on locks of a class.
func (v *Verdict) Saving(class jvmthread.ClassID) criticalpath.Saving {
	for i := range v.Savings {
		if v.Savings[i].Lock.Class == class {
			return v.Savings[i]
		}
	}
	return criticalpath.Saving{}
}
