// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Finder finds the critical path of windows. Its memory is kept from one to the next; one goroutine owns it.
type Finder struct {
	// Unbounded selects the path of the program, backwards from the thread that ran last, instead of the path of one thread.
	Unbounded bool
	// Wanted reports whether the path of a thread may be chosen; nil: all threads.
	Wanted func(jvmthread.ThreadID) bool

	graph    *criticalpath.Graph
	path     criticalpath.Path
	retiming criticalpath.Retiming
	stuck    []jvmthread.ThreadID
	verdict  Verdict
	onPath   [][]jvmthread.Time
}

// Verdict is what made a thread of a window take so long.
type Verdict struct {
	Path    *criticalpath.Path
	Shares  []criticalpath.Share  // by class of lock: the time on the path that was reached through waits for it
	Savings []criticalpath.Saving // by class of lock: what the path's thread would gain without its contention
	onPath  [][]jvmthread.Time    // by lane and interval
	graph   *criticalpath.Graph
	judged  bool // which waits are idle

	retiming *criticalpath.Retiming
	sites    []criticalpath.Share
}

// Sites are the shares by class and call site. They are good until the window is.
func (v *Verdict) Sites() []criticalpath.Share {
	v.sites = v.Path.AppendShares(v.sites[:0], criticalpath.BySite)
	return v.sites
}

// FindSlacks prepares Slack. Only callers that show slacks need them.
func (v *Verdict) FindSlacks() { v.retiming.Slacks(v.Path.Thread) }

// Slack returns how much longer a wait could have lasted before the path's thread would have been done later. It is false if that does not
// depend on the wait, or nothing is known of it.
func (w *Window) Slack(iv jvmthread.Interval) (time.Duration, bool) {
	if w.Verdict == nil {
		return 0, false
	}
	d, ok := w.Verdict.retiming.Slack(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	return time.Duration(d), ok
}

// maxPieces bounds the work on one path: a window of a million intervals has fewer.
const maxPieces = 1 << 22

// NewFinder returns a Finder of bounded paths.
func NewFinder() *Finder {
	return &Finder{graph: criticalpath.New(criticalpath.Limits{MaxPieces: maxPieces})}
}

// Find finds the path of the thread that was blocked for longest, or of the one that ran last if none was, and keeps it as the window's
// verdict until the next call. It does nothing if no thread is wanted. A nil Finder finds nothing.
func (f *Finder) Find(w *Window) {
	w.Verdict = nil
	if f == nil {
		return
	}
	f.graph.Reset()
	for _, l := range w.Lanes {
		f.graph.AddLane(l.Thread, l.Intervals)
	}
	f.graph.AddInteractions(w.Interactions)
	f.graph.AddHolds(w.Holds)
	thread := f.thread(w)
	if thread == jvmthread.NoThread || w.End <= w.Start {
		return
	}
	end := w.End
	if l := w.lane(thread); l != nil && len(l.Intervals) > 0 {
		_, end = w.Clip(l.Intervals[len(l.Intervals)-1]) // it may have ended before the window
	}
	if f.Unbounded {
		f.graph.Unbounded(thread, w.Start, end, &f.path)
	} else {
		f.graph.Bounded(thread, w.Start, end, &f.path)
	}
	f.graph.Retime(w.Start, w.End, &f.retiming)
	f.verdict.Path, f.verdict.graph = &f.path, f.graph
	f.verdict.Shares = f.path.AppendShares(f.verdict.Shares[:0], criticalpath.ByClass)
	f.verdict.retiming = &f.retiming
	f.verdict.Savings = f.retiming.AppendSavings(f.verdict.Savings[:0], thread, criticalpath.ByClass)
	f.mark(w)
	f.verdict.judged = f.judge(w)
	w.Verdict = &f.verdict
}

// judge finds the idle waits. A wait is important if it is on the path of a thread that was blocked or stuck. judge follows the paths of all
// such threads, and gives up (then no wait is idle) if that takes too long.
func (f *Finder) judge(w *Window) bool {
	f.stuck = f.stuck[:0]
	intervals := 0
	for _, l := range w.Lanes {
		intervals += len(l.Intervals)
		if l.stuck() > 0 {
			f.stuck = append(f.stuck, l.Thread)
		}
	}
	_, ok := f.graph.Reach(f.stuck, w.Start, w.End, judgePieces*intervals+1<<14)
	return ok
}

// judgePieces is how many pieces may be visited for each interval of a window to find out which waits are idle.
const judgePieces = 4

// stuck returns how long other threads kept a thread from running.
func (l *Lane) stuck() time.Duration {
	return l.Totals[jvmthread.StateBlocked].Time + l.Totals[jvmthread.StateDeadlocked].Time
}

// Idle reports whether the interval at a place in a lane is an idle wait: no thread that was blocked in the window depended on what this one
// would do next. It is false if that is unknown.
func (w *Window) Idle(lane, at int) bool {
	return w.Verdict != nil && w.Verdict.judged && w.Verdict.graph.IdleAt(lane, at)
}

// thread chooses the thread whose path is found.
func (f *Finder) thread(w *Window) jvmthread.ThreadID {
	if f.Unbounded {
		return f.graph.Last(w.End)
	}
	best, most := jvmthread.NoThread, time.Duration(0)
	for _, l := range w.Lanes {
		if f.Wanted != nil && !f.Wanted(l.Thread) {
			continue
		}
		if d := l.stuck(); d > most {
			best, most = l.Thread, d
		}
	}
	if best != jvmthread.NoThread {
		return best
	}
	last := f.graph.Last(w.End)
	if last != jvmthread.NoThread && f.Wanted != nil && !f.Wanted(last) {
		return jvmthread.NoThread
	}
	return last
}

// mark adds up, for each interval, how much of it is on the path.
func (f *Finder) mark(w *Window) {
	for len(f.onPath) < len(w.Lanes) {
		f.onPath = append(f.onPath, nil)
	}
	for i, l := range w.Lanes {
		f.onPath[i] = append(f.onPath[i][:0], make([]jvmthread.Time, len(l.Intervals))...)
	}
	for _, s := range f.path.Segments {
		if l, at := w.place(jvmthread.IntervalRef{Thread: s.Thread, Seq: s.Seq}); l >= 0 {
			f.onPath[l][at] += s.End - s.Start
		}
	}
	f.verdict.onPath = f.onPath[:len(w.Lanes)]
}

// OnPath returns how much of the interval at a place in a lane is on the critical path.
func (w *Window) OnPath(lane, at int) jvmthread.Time {
	if w.Verdict == nil {
		return 0
	}
	return w.Verdict.onPath[lane][at]
}

// PathTime returns the time on the critical path that was reached through waits for locks of a class, being blocked or waiting.
func (v *Verdict) PathTime(class jvmthread.ClassID) (sum jvmthread.Time) {
	for i := range v.Shares {
		if g := v.Shares[i].Group; g.Lock.Class == class && g.State == jvmthread.StateBlocked {
			sum += v.Shares[i].Time
		}
	}
	return sum
}

// Saving returns what the path's thread would gain without contention on locks of a class.
func (v *Verdict) Saving(class jvmthread.ClassID) criticalpath.Saving {
	for i := range v.Savings {
		if v.Savings[i].Lock.Class == class {
			return v.Savings[i]
		}
	}
	return criticalpath.Saving{}
}
