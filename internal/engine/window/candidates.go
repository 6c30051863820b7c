// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import "slices"

// candidates collects the longest intervals. When full, it is a heap with the shortest first.
type candidates struct {
	list []candidate
	room int
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

// take keeps candidates while the budget lasts, the longest first, each with the intervals that caused its end.
func (s *selection) take(from *candidates) {
	if s.left > 0 {
		slices.SortFunc(from.list, longest)
	}
	for _, c := range from.list {
		if s.left <= 0 {
			return
		}
		l := s.window.Lanes[c.lane]
		s.keep(l, int(c.index))
		s.causes = l.AppendCauses(s.causes[:0], int(c.index))
		for _, ia := range s.causes {
			if src := s.window.lane(ia.From.Thread); src != nil && !src.Hidden && ia.CauseTime >= s.window.Start {
				if i := src.Intervals.Index(ia.From.Seq); i >= 0 {
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
