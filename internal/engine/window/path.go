// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Finder finds the critical paths of windows. One goroutine owns it.
type Finder struct {
	// Unbounded selects the path of the program, which leads backwards from the thread that ran last, instead of the path of one thread.
	Unbounded bool
	// NoWhatIf leaves out savings and slacks.
	NoWhatIf bool
	// Memory lends the memory for one window at a time; nil: the Finder keeps its own.
	Memory Memory
	Chooser

	scratch *Scratch // nil: none yet, or given back
}

// Memory lends the memory for critical paths. Sessions share it: each needs it only while it processes a window.
type Memory interface {
	Borrow() *Scratch
	Return(*Scratch)
}

// Scratch is the memory for the critical path of one window.
type Scratch struct {
	verdict Verdict
	path    criticalpath.Path
	stuck   []jvmthread.ThreadID
	most    int // intervals of the largest window since the last call of Excessive
}

// NewScratch returns memory that grows on use.
func NewScratch() *Scratch {
	return &Scratch{verdict: Verdict{graph: criticalpath.New(criticalpath.Limits{MaxPieces: maxPieces})}}
}

// smallScratch is the number of intervals for which memory is never excessive.
const smallScratch = 1 << 12

// Excessive reports whether all windows since its last call needed less than a quarter of the memory.
func (s *Scratch) Excessive() bool {
	most, room := s.most, s.verdict.graph.Room()
	s.most = 0
	return room > smallScratch && most < room/4
}

// Verdict states what made a thread of a window take so long.
type Verdict struct {
	Path      *criticalpath.Path
	Shares    []criticalpath.Share  // by class of lock: the time on the path reached through waits for it
	Savings   []criticalpath.Saving // by class of lock: how much earlier the path's thread would end without contention
	WhatIf    bool                  // savings and slacks are known
	finder    *Finder               // that has borrowed the memory
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
func (v *Verdict) FindSlacks() {
	if v.WhatIf {
		v.retiming.Slacks(v.Path.Thread)
	}
}

// Slack returns how much longer a wait could have lasted without delaying the path's thread. It returns false if the thread does not depend
// on the wait, the cause of the wait is unknown, or slacks are not wanted.
func (w *Window) Slack(iv jvmthread.Interval) (time.Duration, bool) {
	if w.Verdict == nil || !w.Verdict.WhatIf {
		return 0, false
	}
	d, ok := w.Verdict.retiming.Slack(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	return time.Duration(d), ok
}

// maxPieces bounds the work for one path. A window of a million intervals has fewer pieces.
const maxPieces = 1 << 22

// NewFinder returns a Finder of bounded paths.
func NewFinder() *Finder { return new(Finder) }

// Find stores the path of a thread as the verdict of the window; choose.go says which thread. The verdict is valid until Release, or the
// next call. Find does nothing if no thread is wanted or f is nil.
func (f *Finder) Find(w *Window) {
	w.Release()
	if f == nil {
		return
	}
	switch {
	case f.scratch != nil:
	case f.Memory != nil:
		f.scratch = f.Memory.Borrow()
	default:
		f.scratch = NewScratch()
	}
	defer func() {
		if w.Verdict == nil { // no thread is wanted, or a panic: others wait for the memory
			f.release()
		}
	}()
	v, graph, path := &f.scratch.verdict, f.scratch.verdict.graph, &f.scratch.path
	graph.Reset()
	for _, l := range w.Lanes {
		graph.AddLane(l.Thread, &l.Intervals)
	}
	for _, l := range w.Lanes {
		for ia := range l.Interactions() {
			graph.AddInteraction(&ia)
		}
	}
	graph.AddHolds(w.Holds)
	f.scratch.most = max(f.scratch.most, graph.Len())
	thread := f.thread(w)
	if thread == jvmthread.NoThread || w.End <= w.Start {
		return
	}
	end := w.End
	if l := w.lane(thread); l != nil && l.Intervals.Len() > 0 {
		_, end = w.Clip(l.Intervals.At(l.Intervals.Len() - 1)) // the thread may have ended before the window
	}
	if f.Unbounded {
		graph.Unbounded(thread, w.Start, end, path)
	} else {
		graph.Bounded(thread, w.Start, end, path)
	}
	v.finder, v.Path = f, path
	v.Shares = path.AppendShares(v.Shares[:0], criticalpath.ByClass)
	v.Savings, v.WhatIf = v.Savings[:0], !f.NoWhatIf
	if v.WhatIf {
		graph.Retime(w.Start, w.End, &v.retiming)
		v.Savings = v.retiming.AppendSavings(v.Savings, thread, criticalpath.ByClass)
	}
	v.mark(w)
	v.idleKnown = f.findIdle(w)
	w.Verdict = v
}

// Release gives back the memory of the verdict, and the window no longer has one.
func (w *Window) Release() {
	if v := w.Verdict; v != nil {
		w.Verdict = nil
		v.finder.release()
	}
}

// release gives back borrowed memory.
func (f *Finder) release() {
	if s := f.scratch; s != nil && f.Memory != nil {
		s.verdict.graph.Reset() // it refers to the window
		s.verdict.finder, f.scratch = nil, nil
		f.Memory.Return(s)
	}
}

// findIdle finds the idle waits. A wait is not idle if it is on the path of a thread that waited for a lock, or on the path of the window.
// findIdle follows the paths of all such threads. It returns false if that takes too long; then only waits that are idle by their kind are.
func (f *Finder) findIdle(w *Window) bool {
	s := f.scratch
	s.stuck = s.stuck[:0]
	intervals := 0
	for _, l := range w.Lanes {
		intervals += l.Intervals.Len()
		if l.Waits.Contended().Time > 0 {
			s.stuck = append(s.stuck, l.Thread)
		}
	}
	_, ok := s.verdict.graph.Reach(s.stuck, w.Start, w.End, idlePieces*intervals+1<<14)
	return ok
}

// idlePieces is the number of pieces per interval of a window that findIdle may visit.
const idlePieces = 4

// Idle reports whether the interval at an index of a lane is an idle wait: the thread had no task, or no thread that waited for a lock in the
// window depended on what this thread did next. It returns false if that is unknown. A contended wait is never idle.
func (w *Window) Idle(lane, at int) bool {
	switch wait := w.Lanes[lane].Intervals.Wait(at); {
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
		v.onPath[i] = append(v.onPath[i][:0], make([]jvmthread.Time, l.Intervals.Len())...)
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
