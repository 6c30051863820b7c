// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Select decides which intervals and threads of a window get a span: at most maxSpans in total, including the root and the reserved spans;
// 0 keeps everything. It keeps, in this order, until the budget is used up: deadlocked intervals; intervals on the critical path; the
// longest blocks; the longest other waits, idle ones last; the longest running intervals. Each kept interval also keeps the intervals that
// caused its end. No time is lost: totals include everything, and folded intervals are counted.
func (w *Window) Select(maxSpans, reserved int) {
	spans := 1 + len(w.Lanes) + reserved
	for _, l := range w.Lanes {
		spans += len(l.Intervals)
	}
	if maxSpans <= 0 || spans <= maxSpans {
		return
	}
	w.selected = true
	s := selection{window: w, left: max(0, maxSpans-1-reserved)}
	s.lanes()
	for _, list := range []*candidates{&s.deadlocked, &s.path, &s.blocked, &s.waiting, &s.idle, &s.others} {
		list.room = s.left
	}
	s.gather(false)
	half := s.left / 2
	s.take(&s.deadlocked, s.left)
	s.take(&s.path, s.left)
	s.take(&s.blocked, min(half, s.left))
	s.take(&s.waiting, s.left)
	s.take(&s.blocked, s.left)
	s.take(&s.idle, s.left)
	if s.left > 0 {
		s.gather(true)
		s.take(&s.others, s.left)
	}
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		l.Folded = Folded{Count: uint64(len(l.Intervals)), Time: l.Totals.time()}
		for i, kept := range l.keep {
			if kept {
				l.Folded.Count--
				l.Folded.Time -= w.Length(l.Intervals[i])
			}
		}
	}
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

type selection struct {
	window                                           *Window
	left                                             int
	deadlocked, path, blocked, waiting, idle, others candidates
}

// lanes hides the threads beyond the budget: at most half of it goes to threads, those that were blocked longest.
func (s *selection) lanes() {
	w := s.window
	limit := min(s.left, max(1, s.left/2))
	if len(w.Lanes) > limit {
		order := make([]candidate, len(w.Lanes))
		for i, l := range w.Lanes {
			order[i] = candidate{length: l.stuck(), lane: int32(i)}
		}
		slices.SortFunc(order, longest)
		for _, c := range order[limit:] {
			l := w.Lanes[c.lane]
			l.Hidden = true
			w.folded.Count++
			w.folded.Time += l.Totals.time()
		}
	}
	s.left -= min(limit, len(w.Lanes))
	for _, l := range w.Lanes {
		l.keep = make([]bool, len(l.Intervals))
	}
}

// gather collects the longest intervals of each kind, at most as many as can be kept. The kind others is the largest and is rarely kept, so
// it is gathered separately.
func (s *selection) gather(others bool) {
	for i, l := range s.window.Lanes {
		if l.Hidden {
			continue
		}
		for j := range l.Intervals {
			iv := &l.Intervals[j]
			on := s.window.OnPath(i, j)
			list := s.kind(iv.State, on)
			if others != (list == &s.others) {
				continue
			}
			if list == &s.waiting && s.window.Idle(i, j) {
				list = &s.idle
			}
			c := candidate{length: time.Duration(on), lane: int32(i), index: int32(j)}
			if list != &s.path {
				c.length = s.window.Length(*iv)
			}
			list.add(c)
		}
	}
}

// kind returns the candidates for intervals in a state with some time on the path. A waiting interval may turn out to be idle.
func (s *selection) kind(state jvmthread.State, on jvmthread.Time) *candidates {
	if on > 0 && state != jvmthread.StateDeadlocked {
		return &s.path
	}
	switch state { //exhaustive:enforce
	case jvmthread.StateDeadlocked:
		return &s.deadlocked
	case jvmthread.StateBlocked, jvmthread.StateReentering:
		return &s.blocked
	case jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateSleeping, jvmthread.StateParked, jvmthread.StateSuspended:
		return &s.waiting
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateDead:
	}
	return &s.others
}

// candidates collects the longest intervals. When full, it is a heap with the shortest first.
type candidates struct {
	list   []candidate
	room   int
	sorted bool
}

func (l *candidates) add(c candidate) {
	switch n := len(l.list); {
	case n < l.room:
		l.list = append(l.list, c)
		if n++; n == l.room {
			for i := n/2 - 1; i >= 0; i-- {
				l.sink(i)
			}
		}
	case n > 0 && c.before(&l.list[0]):
		l.list[0] = c
		l.sink(0)
	}
}

// sink moves an element of the heap down to its place.
func (l *candidates) sink(at int) {
	c := l.list[at]
	for {
		next := 2*at + 1
		if next >= len(l.list) {
			break
		}
		if other := next + 1; other < len(l.list) && l.list[next].before(&l.list[other]) {
			next = other
		}
		if !c.before(&l.list[next]) {
			break
		}
		l.list[at] = l.list[next]
		at = next
	}
	l.list[at] = c
}

// take keeps candidates while the budget lasts, each with the intervals that caused its end.
func (s *selection) take(from *candidates, budget int) {
	stop := s.left - budget
	if s.left > stop && !from.sorted {
		slices.SortFunc(from.list, longest)
		from.sorted = true
	}
	for _, c := range from.list {
		if s.left <= stop {
			return
		}
		l := s.window.Lanes[c.lane]
		s.keep(l, int(c.index))
		for _, ia := range s.window.Causes(jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals[c.index].Seq}) {
			if src := s.window.lane(ia.From.Thread); src != nil && !src.Hidden && ia.CauseTime >= s.window.Start {
				if i := src.index(ia.From.Seq); i >= 0 {
					s.keep(src, i)
				}
			}
		}
	}
}

func (s *selection) keep(l *Lane, i int) {
	if s.left > 0 && !l.keep[i] {
		l.keep[i] = true
		s.left--
	}
}
