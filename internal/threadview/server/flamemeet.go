// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

// Which waits overlap with which pieces of holds is only needed to say who waited for a holder. Unlike the sums it takes a step for each pair.

// enter puts a wait into the queue.
func (s *flameSplit) enter(l *flameWaits, n int32) {
	if s.meet == nil {
		return
	}
	w := &l.waits[n]
	w.place = int32(len(s.queue))
	s.queue = append(s.queue, n)
	s.alone = false
	for _, i := range s.open {
		s.meets(l, &s.pieces[i], w)
	}
}

// leave takes a wait out of the queue.
func (s *flameSplit) leave(l *flameWaits, w *flameWait) {
	if s.meet == nil {
		return
	}
	last := len(s.queue) - 1
	s.queue[w.place] = s.queue[last]
	l.waits[s.queue[w.place]].place = w.place
	s.queue = s.queue[:last]
}

// meetAll notes that all waits of the queue are for the holder of a piece, or that their holder is unknown.
func (s *flameSplit) meetAll(l *flameWaits, p *flamePiece) {
	if s.meet == nil || p == nil && s.alone {
		return
	}
	s.alone = p == nil
	for _, i := range s.queue {
		s.meets(l, p, &l.waits[i])
	}
}

func (s *flameSplit) meets(l *flameWaits, p *flamePiece, w *flameWait) {
	if s.meet != nil {
		s.meet(l.names[w.name], p, w)
	}
}
