// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// divide divides the waits for a lock object.
func (s *flameSplit) divideLock(l *flameWaits) {
	slices.SortFunc(l.holds, func(a, b store.Hold) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Thread, b.Thread))
	})
	s.pieces = s.pieces[:0]
	until := l.first
	for i := range l.holds {
		h := &l.holds[i]
		start, end := max(h.Start, l.first, s.from), min(h.End, l.last, s.to)
		if !isShared(*h) {
			start = max(start, until)
			until = max(until, end)
		}
		if start < end {
			s.cutHold(h, start, end)
		}
	}
	s.order(l)
	s.sweep(l)
	for i, c := range s.parts {
		if c != (viewapi.StateTime{}) {
			s.caused(l.names[i%len(l.names)], &s.pieces[i/len(l.names)], c)
		}
	}
	for i, c := range s.unknown {
		if c != (viewapi.StateTime{}) {
			s.caused(l.names[i], nil, c)
		}
	}
}

// cutHold cuts a hold by what the holder did. A running thread has no stack; instead, it has that of the wait by which it took the lock.
func (s *flameSplit) cutHold(h *store.Hold, start, end jvmthread.Time) {
	piece := func(from, to jvmthread.Time, d doing) {
		if from < to {
			d.known = true
			s.pieces = append(s.pieces, flamePiece{from: from, to: to, thread: h.Thread, doing: d, hold: h})
			s.cut++
		}
	}
	var took store.StackID
	by := func(c *store.Cursor) {
		if c.Lock() == h.Lock && window.HasHolders(c.Wait()) && c.Stack() != 0 {
			took = c.Stack()
		}
	}
	for c := s.q.sn.Walk(h.Thread, h.Start-1, h.Start); c.Next(); {
		if c.End == h.Start {
			by(&c)
		}
	}
	at := start
	for c := s.q.sn.Walk(h.Thread, start, end); c.Next() && s.cut < maxFlamePieces; {
		from, to := max(c.Start, at), min(c.End, end)
		if from < to {
			piece(at, from, doing{})
			d := doing{stack: c.Stack(), state: c.State}
			if shown := c.Shown(); shown == store.StateIO {
				d.state = shown
			}
			if d.state == jvmthread.StateRunnable && d.stack == 0 {
				d.stack, d.taken = took, took != 0
			}
			piece(from, to, d)
			at = to
		}
		by(&c)
	}
	piece(at, end, doing{})
}

// order makes the sorted list of where waits and pieces begin and end.
func (s *flameSplit) order(l *flameWaits) {
	s.turns = s.turns[:0]
	for i := range l.waits {
		w := &l.waits[i]
		s.turns = append(s.turns, flameTurn{w.from, waitBegins, int32(i)})
		if w.from < w.to {
			s.turns = append(s.turns, flameTurn{w.to, waitEnds, int32(i)})
		}
	}
	for i := range s.pieces {
		p := &s.pieces[i]
		s.turns = append(s.turns, flameTurn{p.from, pieceBegins, int32(i)}, flameTurn{p.to, pieceEnds, int32(i)})
	}
	slices.SortFunc(s.turns, func(a, b flameTurn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what), cmp.Compare(a.n, b.n))
	})
}

// sweep goes through the time and adds what each piece caused.
func (s *flameSplit) sweep(l *flameWaits) {
	l.waiting = make([]int64, len(l.names))
	s.parts = cleared(s.parts, len(s.pieces)*len(l.names))
	s.unknown = cleared(s.unknown, len(l.names))
	s.open, s.queue, s.alone = s.open[:0], s.queue[:0], false
	last := l.first
	for _, t := range s.turns {
		if t.at > last {
			s.pass(l, int64(t.at-last))
			last = t.at
		}
		switch t.what {
		case waitEnds:
			w := &l.waits[t.n]
			l.waiting[w.name]--
			s.leave(l, w)
		case pieceEnds:
			s.open = slices.DeleteFunc(s.open, func(i int32) bool { return i == t.n })
		case pieceBegins:
			s.open = append(s.open, t.n)
			s.meetAll(l, &s.pieces[t.n])
		case waitBegins:
			s.begin(l, t.n)
		}
	}
}

func cleared(list []viewapi.StateTime, length int) []viewapi.StateTime {
	list = slices.Grow(list[:0], length)[:length]
	clear(list)
	return list
}

func (s *flameSplit) begin(l *flameWaits, n int32) {
	w := &l.waits[n]
	if w.from < w.to {
		l.waiting[w.name]++
		s.enter(l, n)
	}
	if !w.began {
		return
	}
	if len(s.open) == 0 {
		s.unknown[w.name].Count++
		s.meets(l, nil, w)
		return
	}
	newest := s.open[len(s.open)-1]
	s.by(l, newest, w.name).Count++
	p := &s.pieces[newest]
	s.meets(l, p, w)
	if d := &p.doing; w.owner.stack != 0 && w.owner.peer == p.thread && (d.stack == 0 || d.taken) {
		d.stack, d.taken = w.owner.stack, false
	}
}

// pass divides the time that threads waited for some nanoseconds.
func (s *flameSplit) pass(l *flameWaits, length int64) {
	if len(s.open) == 0 {
		s.meetAll(l, nil)
	}
	for name, n := range l.waiting {
		waited := n * length
		if waited == 0 {
			continue
		}
		if len(s.open) == 0 {
			s.unknown[name].Time += waited
			continue
		}
		each, rest := waited/int64(len(s.open)), waited%int64(len(s.open))
		for i, at := range s.open {
			part := each
			if int64(i) < rest {
				part++
			}
			s.by(l, at, int32(name)).Time += part
		}
	}
}

// by returns what a piece caused to waits of a name.
func (s *flameSplit) by(l *flameWaits, piece, name int32) *viewapi.StateTime {
	return &s.parts[int(piece)*len(l.names)+int(name)]
}
