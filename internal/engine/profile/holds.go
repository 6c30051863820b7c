// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// begin cuts the holds of a window, from a time on, into pieces. Locks that find has not added before are left out.
func (s *split) begin(w *window.Window, from jvmthread.Time) {
	s.base = from
	s.took, s.kept = s.kept, s.took
	clear(s.kept)
	for i := 0; i < len(w.Holds); {
		n := i + 1
		for n < len(w.Holds) && w.Holds[n].Lock == w.Holds[i].Lock {
			n++
		}
		if at := s.index[w.Holds[i].Lock]; at > 0 {
			s.addHolds(w, w.Holds[i:n], from, &s.locks[at-1])
		} else {
			s.keep(w, w.Holds[i:n], from)
		}
		i = n
	}
}

// keep notes how a lock was taken that is held at the end of the window: others may wait for it in the next one.
func (s *split) keep(w *window.Window, holds []jvmthread.Hold, from jvmthread.Time) {
	pieces := len(s.pieces)
	for i := range holds {
		h := &holds[i]
		if start, end := max(h.Start, from), min(h.End, w.End); h.Marks&jvmthread.HoldOpen != 0 && start < end {
			s.cut(w, h, start, end)
		}
	}
	s.pieces = s.pieces[:pieces]
}

func (s *split) addHolds(w *window.Window, holds []jvmthread.Hold, from jvmthread.Time, l *lock) {
	l.pieces[0], l.edges[0] = int32(len(s.pieces)), int32(len(s.edges))
	for i := range holds {
		h := &holds[i]
		start, end := max(h.Start, from), min(h.End, w.End)
		l.shared = l.shared || h.Marks&jvmthread.HoldShared != 0
		if !l.shared && int(l.pieces[0]) < len(s.pieces) {
			start = max(start, s.base+s.pieces[len(s.pieces)-1].to)
		}
		if start < end {
			s.cut(w, h, start, end)
		}
	}
	l.pieces[1] = int32(len(s.pieces))
	s.addEdges(l)
	l.edges[1] = int32(len(s.edges))
	l.last = l.edges[0]
}

// cut adds the pieces of a hold. What a thread did in the rest of it is not known. A running thread has no stack; instead, its pieces have that
// of the wait by which it took the lock.
func (s *split) cut(w *window.Window, h *jvmthread.Hold, start, end jvmthread.Time) {
	at, visited := start, false
	took := s.took[h.Lock]
	if took.thread != h.Thread || h.Start >= s.base {
		took = taken{thread: h.Thread}
	}
	w.Walk(h.Thread, start, end, func(l *window.Lane, i int) {
		if !visited && i > 0 && l.Intervals.End(i-1) == h.Start {
			took.by(l, i-1, h.Lock)
		}
		visited = true
		from, to := max(l.Intervals.Start(i), at), min(l.Intervals.End(i), end)
		if from >= to {
			return
		}
		s.piece(piece{from: at, to: from, thread: h.Thread})
		p := piece{from: from, to: to, thread: h.Thread, stack: l.Intervals.Stack(i), state: l.Intervals.State(i)}
		if p.state == jvmthread.StateRunnable && p.stack == jvmthread.NoStack {
			p.stack, p.taken = took.stack, took.stack != jvmthread.NoStack
		}
		s.piece(p)
		took.by(l, i, h.Lock)
		at = to
	})
	s.piece(piece{from: at, to: end, thread: h.Thread})
	if h.Marks&jvmthread.HoldOpen != 0 && took.stack != jvmthread.NoStack {
		s.kept[h.Lock] = took
	}
}

// taken is how the holder of a lock took it.
type taken struct {
	thread jvmthread.ThreadID
	stack  jvmthread.StackID
}

// by notes an interval of the holder, if it waited for the lock.
func (t *taken) by(l *window.Lane, i int, lock jvmthread.LockID) {
	if l.Intervals.Lock(i) == lock && window.HasHolders(l.Intervals.Wait(i)) && l.Intervals.Stack(i) != jvmthread.NoStack {
		t.stack = l.Intervals.Stack(i)
	}
}

func (s *split) piece(p piece) {
	if p.from < p.to {
		p.from -= s.base
		p.to -= s.base
		s.pieces = append(s.pieces, p)
	}
}

// addEdges adds the edges of a lock's pieces.
func (s *split) addEdges(l *lock) {
	pieces := s.pieces[l.pieces[0]:l.pieces[1]]
	if !l.shared {
		for i := range pieces {
			p := &pieces[i]
			if n := len(s.edges); n == int(l.edges[0]) || s.edges[n-1].at < p.from {
				s.edges = append(s.edges, edge{at: p.from})
			}
			s.edges[len(s.edges)-1].holder = int32(i)
			s.edges = append(s.edges, edge{at: p.to, holder: -1})
		}
		return
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.from - b.from) })
	for i := range pieces {
		s.edges = append(s.edges, edge{at: pieces[i].from}, edge{at: pieces[i].to})
	}
	edges := s.edges[l.edges[0]:]
	slices.SortFunc(edges, func(a, b edge) int { return int(a.at - b.at) })
	edges = slices.CompactFunc(edges, func(a, b edge) bool { return a.at == b.at })
	s.edges = s.edges[:int(l.edges[0])+len(edges)]
	s.findNewest(pieces, edges)
}

// findNewest sets the holder of each segment of a shared lock.
func (s *split) findNewest(pieces []piece, edges []edge) {
	next := 0
	s.open = s.open[:0]
	for i := range edges {
		for ; next < len(pieces) && pieces[next].from <= edges[i].at; next++ {
			s.open = append(s.open, int32(next))
		}
		for len(s.open) > 0 && pieces[s.open[len(s.open)-1]].to <= edges[i].at {
			s.open = s.open[:len(s.open)-1]
		}
		edges[i].holder = -1
		if n := len(s.open); n > 0 {
			edges[i].holder = s.open[n-1]
		}
	}
}
