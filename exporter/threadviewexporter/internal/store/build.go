// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// build makes a block of a window, and notes what is open at its end.
func (s *Session) build(w *window.Window, sym *symbols.Table) *Block {
	if !s.begun {
		s.begun, s.origin = true, w.Start
	}
	if s.fresh {
		s.fresh, s.begin = false, w.Start
	}
	b := &Block{Start: w.Start, End: w.End, Cut: w.Cut, Begin: s.begin, Events: w.Events, Lost: w.Lost, Missed: w.Missed, number: s.next}
	for _, l := range w.Lanes {
		s.addLane(b, l, sym)
	}
	b.lanes = append(b.lanes, lane{first: uint32(len(b.state))})
	s.addInteractions(b, w, sym)
	s.addHolds(b, w, sym)
	b.raw = s.pending.take(w.End, s.store.encoder)
	b.clip()
	return b
}

func (s *Session) addLane(b *Block, l *window.Lane, sym *symbols.Table) {
	if len(l.Intervals) == 0 {
		return
	}
	id := s.thread(sym, l.Thread)
	t := &s.threads[id]
	first := len(b.state)
	if t.First == 0 {
		t.First = l.Intervals[0].Start
	}
	open := false
	for i := range l.Intervals {
		src := &l.Intervals[i]
		iv := Interval{
			Start: src.Start, End: src.End, Thread: int(id), Peer: int(s.thread(sym, src.Peer)), Timeout: src.Timeout,
			Lock: LockIndex(s.lockOf(sym, src.Lock)), Stack: StackID(s.stack(sym, src.Stack)), Seq: src.Seq, Cycle: src.Cycle,
			State: src.State, Marks: src.Marks, Parked: src.State == jvmthread.StateDeadlocked && src.Was == jvmthread.StateParked,
		}
		if open = src.Marks.Has(jvmthread.MarkOpen); open {
			s.open[id] = iv
			break
		}
		b.add(&iv)
	}
	t = &s.threads[id] // a peer may have moved it
	t.Last = l.Intervals[len(l.Intervals)-1].End
	t.Dead = !open
	if t.Dead {
		delete(s.open, id)
	}
	if len(b.state) > first {
		b.lanes = append(b.lanes, lane{start: l.Intervals[0].Start, thread: id, first: uint32(first), seq: l.Intervals[0].Seq})
	}
}

func (b *Block) add(iv *Interval) {
	i := len(b.state)
	b.end.add(int64(iv.End - b.Start))
	b.state = append(b.state, iv.State)
	b.marks = append(b.marks, iv.Marks)
	b.peer = append(b.peer, uint32(iv.Peer))
	b.lock = append(b.lock, uint32(iv.Lock))
	b.stack = append(b.stack, uint32(iv.Stack))
	if iv.Timeout != 0 {
		b.timeouts.add(i, iv.Timeout)
	}
	if iv.Cycle != 0 {
		cycle := int64(iv.Cycle) << 1
		if iv.Parked {
			cycle |= 1
		}
		b.cycles.add(i, cycle)
	}
}

func (s *Session) addInteractions(b *Block, w *window.Window, sym *symbols.Table) {
	order := make([]int32, len(w.Interactions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(w.Interactions[x].EffectTime, w.Interactions[y].EffectTime), cmp.Compare(x, y))
	})
	e := &b.interactions
	for _, i := range order {
		ia := &w.Interactions[i]
		e.effect.add(int64(ia.EffectTime - b.Start))
		e.latency.add(int64(ia.Latency()))
		e.from = append(e.from, s.thread(sym, ia.From.Thread))
		e.to = append(e.to, s.thread(sym, ia.To.Thread))
		e.fromSeq = append(e.fromSeq, ia.From.Seq)
		e.toSeq = append(e.toSeq, ia.To.Seq)
		e.lock = append(e.lock, s.lockOf(sym, ia.Lock))
		e.stack = append(e.stack, s.stack(sym, ia.Stack))
		e.kind = append(e.kind, ia.Kind)
		e.confidence = append(e.confidence, ia.Confidence)
	}
}

// addHolds keeps the holds that ended. Those that go on come again with the next window: they are open; one that does not come again ended where
// it was seen last.
func (s *Session) addHolds(b *Block, w *window.Window, sym *symbols.Table) {
	before := s.openHolds
	s.openHolds = make(map[uint32]Hold, len(before))
	var done []Hold
	for i := range w.Holds {
		src := &w.Holds[i]
		h := Hold{Start: src.Start, End: src.End, Lock: LockIndex(s.lockOf(sym, src.Lock)), Thread: int(s.thread(sym, src.Thread)), Marks: src.Marks}
		if old, ok := before[uint32(h.Lock)]; ok && old.Start == h.Start {
			delete(before, uint32(h.Lock))
		}
		if h.Marks&jvmthread.HoldOpen != 0 {
			s.openHolds[uint32(h.Lock)] = h
			continue
		}
		done = append(done, h)
	}
	for _, h := range before {
		h.Marks &^= jvmthread.HoldOpen
		h.Marks |= jvmthread.HoldInferred
		done = append(done, h)
	}
	slices.SortFunc(done, func(x, y Hold) int { return cmp.Or(cmp.Compare(x.End, y.End), cmp.Compare(x.Lock, y.Lock)) })
	for _, h := range done {
		if h.End > h.Start {
			b.addHold(h)
		}
	}
}

func (b *Block) addHold(h Hold) {
	t := &b.holds
	t.end.add(int64(h.End - b.Start))
	t.length.add(int64(h.End - h.Start))
	t.lock = append(t.lock, uint32(h.Lock))
	t.thread = append(t.thread, uint32(h.Thread))
	t.marks = append(t.marks, h.Marks)
}

// addDeadlock keeps a deadlock that was confirmed in a window.
func (s *Session) addDeadlock(w *window.Window, i int) {
	f := &w.Deadlocks[i]
	d := Deadlock{Cycle: f.Cycle, Since: f.Since, engine: s.begin}
	for _, m := range f.Members {
		id, ok := s.threadIDs[m.Thread]
		if !ok {
			continue
		}
		if iv, open := s.open[id]; open {
			d.Members = append(d.Members, iv)
		}
	}
	s.deadlocks = append(s.deadlocks, d)
	if len(s.deadlocks) > maxDeadlocks {
		s.deadlocks = append([]Deadlock(nil), s.deadlocks[len(s.deadlocks)-maxDeadlocks:]...)
	}
}
