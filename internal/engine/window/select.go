// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Select decides which intervals and threads of a window get a span: at most maxSpans in total, including the root and the reserved spans;
// 0 keeps everything. It keeps, in this order, until the budget is used up: what is pinned; deadlocked intervals; the longest contended wait of each lock
// and call site; the longest contended waits and waits for others on the critical path; the rest of the path; the longest other waits; idle
// ones; the longest others. Each kept wait also keeps the intervals that caused its end. No time is lost: totals include everything, and
// folded intervals are counted.
func (w *Window) Select(maxSpans, reserved int) {
	if maxSpans <= 0 || w.spans()+reserved <= maxSpans {
		if w.selected {
			w.fold()
		}
		return
	}
	w.selected = true
	s := selection{window: w, left: max(0, maxSpans-1-reserved), sites: make(map[waitSite]candidate)}
	s.lanes()
	for i := range s.lists {
		s.lists[i].room = s.left
	}
	for _, l := range w.Lanes {
		l.keepPinned(func(at int) { s.keep(l, at) })
	}
	s.gather(false)
	s.take(&s.lists[classDeadlocked])
	s.takeSites()
	for c := classImportant; c < classOther; c++ {
		s.take(&s.lists[c])
	}
	if s.left > 0 {
		s.gather(true)
		s.take(&s.lists[classOther])
	}
	w.fold()
}

// spans returns the number of spans of what is not left out.
func (w *Window) spans() int {
	n := 1
	for _, l := range w.Lanes {
		switch {
		case l.Hidden:
		case l.keep == nil:
			n += 1 + l.Intervals.Len()
		default:
			n++
			for _, kept := range l.keep {
				if kept {
					n++
				}
			}
		}
	}
	return n
}

// class is how much an interval matters. Lower classes are kept first.
type class uint8

const (
	classDeadlocked class = iota
	classImportant        // contended, or a wait for others on the path
	classPath             // anything else on the path
	classWaiting
	classIdle
	classOther
	classes
)

// class returns the class of the interval at an index of a lane.
func (w *Window) class(lane, at int) class {
	list := &w.Lanes[lane].Intervals
	wait, on := list.Wait(at), w.OnPath(lane, at) > 0
	switch {
	case list.State(at) == jvmthread.StateDeadlocked:
		return classDeadlocked
	case wait.Contended(), wait == jvmthread.WaitReenter, on && wait.ForOthers():
		return classImportant
	case on:
		return classPath
	case wait == jvmthread.WaitNone:
		return classOther
	case wait == jvmthread.WaitSleep, w.Idle(lane, at):
		return classIdle
	}
	return classWaiting
}

// fold counts what has no span.
func (w *Window) fold() {
	locks := make(map[jvmthread.ClassID]*LockStats, len(w.Locks))
	for i := range w.Locks {
		locks[w.Locks[i].Class] = &w.Locks[i]
	}
	for _, l := range w.Lanes {
		l.Folded, l.Contended = Folded{}, Folded{}
		if l.keep == nil && !l.Hidden {
			continue
		}
		for i := range l.Intervals.Len() {
			if l.Kept(i) {
				continue
			}
			length := w.length(l.Intervals.Start(i), l.Intervals.End(i))
			l.Folded.add(length)
			if !l.Intervals.Wait(i).Contended() {
				continue
			}
			l.Contended.add(length)
			if lock := locks[l.Intervals.Lock(i).Class]; lock != nil {
				lock.Folded.add(length)
			}
		}
		if l.Hidden {
			l.Folded = Folded{} // the root counts the thread
		}
	}
}

func (f *Folded) add(d time.Duration) {
	f.Count++
	f.Time += d
}

// candidate is an interval that may get a span.
type candidate struct {
	length time.Duration
	lane   int32
	index  int32
}

// before reports whether a candidate is longer than another or, at equal length, earlier.
func (c *candidate) before(d *candidate) bool {
	switch {
	case c.length != d.length:
		return c.length > d.length
	case c.lane != d.lane:
		return c.lane < d.lane
	}
	return c.index < d.index
}

func longest(a, b candidate) int {
	switch {
	case a.before(&b):
		return -1
	case b.before(&a):
		return 1
	}
	return 0
}

// waitSite is a lock and the code that waits for it.
type waitSite struct {
	lock  jvmthread.LockID
	stack jvmthread.StackID
}

// maxSites bounds the sites whose longest wait is kept in any case.
const maxSites = 1 << 12

type selection struct {
	window *Window
	left   int
	lists  [classes]candidates
	sites  map[waitSite]candidate  // the longest contended wait of each
	causes []jvmthread.Interaction // scratch of take
}

// lanes hides the threads beyond the budget: at most half of it goes to threads, those that have pinned intervals, then those that
// waited longest for locks.
func (s *selection) lanes() {
	w := s.window
	order := make([]candidate, 0, len(w.Lanes))
	for i, l := range w.Lanes {
		if !l.Hidden {
			c := candidate{length: l.Waits.Contended().Time, lane: int32(i)}
			if len(l.pinned) > 0 {
				c.length = math.MaxInt64
			}
			order = append(order, c)
		}
	}
	limit := min(s.left, max(1, s.left/2))
	s.left -= min(limit, len(order))
	if len(order) > limit {
		slices.SortFunc(order, longest)
		for _, c := range order[limit:] {
			w.hide(w.Lanes[c.lane])
		}
	}
	for _, l := range w.Lanes {
		l.keep = make([]bool, l.Intervals.Len())
	}
}

// gather collects the longest intervals of each class, at most as many as can be kept. The class of others is the largest and is rarely
// kept, so it is gathered separately.
func (s *selection) gather(others bool) {
	w := s.window
	for i, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		for j := range l.Intervals.Len() {
			class := w.class(i, j)
			if others != (class == classOther) || w.isMinor(i, j) {
				continue
			}
			c := candidate{length: w.length(l.Intervals.Start(j), l.Intervals.End(j)), lane: int32(i), index: int32(j)}
			if class == classPath {
				c.length = time.Duration(w.OnPath(i, j))
			}
			s.lists[class].add(c)
			if class == classImportant && l.Intervals.Wait(j).Contended() {
				s.addSite(waitSite{l.Intervals.Lock(j), l.Intervals.Stack(j)}, c)
			}
		}
	}
}

func (s *selection) addSite(site waitSite, c candidate) {
	best, ok := s.sites[site]
	if ok && c.before(&best) || !ok && len(s.sites) < maxSites {
		s.sites[site] = c
	}
}

// takeSites keeps the longest wait of each site, the longest ones first. They get at most half of what is left.
func (s *selection) takeSites() {
	list := candidates{list: make([]candidate, 0, len(s.sites))}
	for _, c := range s.sites {
		list.list = append(list.list, c)
	}
	rest := s.left - s.left/2
	s.left -= rest
	s.take(&list)
	s.left += rest
}
