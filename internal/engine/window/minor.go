// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	// fewThreads is how many threads a trace shows in any case.
	fewThreads = 20
	// shortReenter is how long a thread that was notified may wait for the monitor before that matters. Most wait for a microsecond.
	shortReenter = 100 * time.Microsecond
)

// FoldMinor leaves out what would not be missed: reentering for less than 100 us, unless that is what unblocked another thread; and, if there
// are more than twenty threads, those that were idle and had no part in any wait. Call it before Select, which counts what has no span.
func (w *Window) FoldMinor() {
	w.minor = true
	for i, l := range w.Lanes {
		if l.Totals[jvmthread.StateReentering].Count == 0 && l.Totals[jvmthread.StateReentering].Time == 0 {
			continue
		}
		for j := range l.Intervals.Len() {
			if w.isMinor(i, j) {
				l.fold(j)
				w.selected = true
			}
		}
	}
	if w.selected {
		w.keepSources()
	}
	if len(w.Lanes) > fewThreads {
		w.hideIdle()
	}
}

// isMinor reports whether an interval is left out if FoldMinor was called.
func (w *Window) isMinor(lane, at int) bool {
	list := &w.Lanes[lane].Intervals
	return w.minor && list.Wait(at) == jvmthread.WaitReenter && list.State(at) == jvmthread.StateReentering &&
		w.length(list.Start(at), list.End(at)) < shortReenter
}

// fold leaves out an interval.
func (l *Lane) fold(at int) {
	if l.keep == nil {
		l.keep = make([]bool, l.Intervals.Len())
		for i := range l.keep {
			l.keep[i] = true
		}
	}
	l.keep[at] = false
}

// keepSources keeps the intervals that released a thread, and those that are pinned.
func (w *Window) keepSources() {
	for _, l := range w.Lanes {
		if l.keep != nil {
			l.keepPinned(func(at int) { l.keep[at] = true })
		}
		for i := range l.causes {
			c := &l.causes[i]
			if src := w.lane(c.thread); src != nil && src.keep != nil {
				if at := src.Intervals.Index(c.from); at >= 0 {
					src.keep[at] = true
				}
			}
		}
	}
}

// hideIdle hides the threads that were idle and had no part in any wait.
func (w *Window) hideIdle() {
	took := make([]bool, len(w.Lanes))
	note := func(id jvmthread.ThreadID) {
		if at := w.laneIndex(id); at >= 0 {
			took[at] = true
		}
	}
	for i, l := range w.Lanes {
		for k := range l.causes {
			c := &l.causes[k]
			at := l.Intervals.Index(c.to)
			if c.kind == jvmthread.InteractionStart || l.Intervals.Wait(at).ForOthers() || !w.Idle(i, at) { // not a task for a thread that had none
				note(c.thread)
			}
		}
		if l.Waits.Contended().Time == 0 {
			continue
		}
		for at := range l.Intervals.Len() {
			if l.Intervals.Wait(at).Contended() {
				note(l.Intervals.Peer(at)) // the owner, which may not have handed it over yet
			}
		}
	}
	for i, l := range w.Lanes {
		if took[i] || len(l.pinned) > 0 || w.Cost(i) > 0 || l.Waits.forOthers() {
			continue
		}
		total := l.Totals.Time()
		if active := l.Totals[jvmthread.StateRunnable].Time + l.Totals[jvmthread.StateUnknown].Time; total > 0 && active < total/jvmthread.IdleShare {
			w.hide(l)
		}
	}
}

// forOthers reports whether there was a wait for other threads.
func (t *Waits) forOthers() bool {
	for kind := range t {
		if jvmthread.Wait(kind).ForOthers() && jvmthread.Wait(kind) != jvmthread.WaitReenter && t[kind] != (Sum{}) {
			return true
		}
	}
	return false
}

// hide leaves out a thread.
func (w *Window) hide(l *Lane) {
	l.Hidden, w.selected = true, true
	w.folded.Count++
	w.folded.Time += l.Totals.Time()
}

// Cost returns what the waits of a thread cost: its contended waits, and its time on the critical path.
func (w *Window) Cost(lane int) time.Duration {
	l := w.Lanes[lane]
	sum := l.Waits.Contended().Time + l.Totals[jvmthread.StateDeadlocked].Time
	if w.Verdict != nil {
		for _, d := range w.Verdict.onPath[lane] {
			sum += time.Duration(d)
		}
	}
	return sum
}
