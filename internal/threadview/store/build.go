// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// build turns a window into a block, and notes what is open at its end.
func (s *Session) build(w *window.Window, sym *symbols.Table) *Block {
	if !s.begun {
		s.begun, s.now.Origin = true, w.Start
	}
	if s.fresh {
		s.fresh, s.begin = false, w.Start
	}
	b := &Block{Start: w.Start, End: w.End, Begin: s.begin, number: s.next}
	for _, l := range w.Lanes {
		s.addLane(b, l, sym)
	}
	b.lanes = append(b.lanes, lane{first: uint32(len(b.state))})
	s.addInteractions(b, w, sym)
	s.addHolds(b, w, sym)
	s.addRequests(b, w.End)
	b.sortUsages()
	b.raw = s.pack(w.End)
	b.finish()
	return b
}

func (s *Session) addLane(b *Block, l *window.Lane, sym *symbols.Table) {
	if l.Intervals.Len() == 0 {
		return
	}
	id := s.thread(sym, l.Thread)
	if t := &s.now.Threads[id]; t.First == 0 {
		t.First = l.Intervals.Start(0)
	}
	b.addUsages(id, l.Usages)
	first, open := len(b.state), false
	for _, src := range l.Intervals.All() {
		iv := Interval{
			Start: src.Start, End: src.End, Thread: int(id), Peer: int(s.thread(sym, src.Peer)), Timeout: src.Timeout,
			Lock: LockIndex(s.lockOf(sym, src.Lock)), Stack: StackID(s.stack(sym, src.Stack)), Seq: src.Seq, Cycle: src.Cycle,
			State: src.State, Marks: src.Marks, Wait: src.Wait,
		}
		if open = src.Marks.Has(jvmthread.MarkOpen); open {
			s.open[id] = iv
			break
		}
		b.add(&iv)
	}
	t := &s.now.Threads[id] // adding a peer may have moved it
	t.Last, t.Dead = l.Intervals.End(l.Intervals.Len()-1), !open
	if t.Dead {
		delete(s.open, id)
	}
	if len(b.state) > first {
		b.lanes = append(b.lanes, lane{start: l.Intervals.Start(0), thread: id, first: uint32(first), seq: l.Intervals.Seq(0)})
	}
}

func (s *Session) addInteractions(b *Block, w *window.Window, sym *symbols.Table) {
	order := slices.AppendSeq(make([]jvmthread.Interaction, 0, w.CountInteractions()), w.Interactions())
	slices.SortStableFunc(order, func(x, y jvmthread.Interaction) int { return cmp.Compare(x.EffectTime, y.EffectTime) })
	b.interactions = make([]edge, len(order))
	for i := range order {
		ia := &order[i]
		to, stack := s.thread(sym, ia.To.Thread), s.stack(sym, ia.Stack)
		if ia.Kind == jvmthread.InteractionStart && stack != 0 {
			s.now.Threads[to].Start = StackID(stack)
		}
		b.interactions[i] = edge{
			effect: b.effects.shorten(i, ia.EffectTime-b.Start), latency: b.latencies.shorten(i, jvmthread.Time(ia.Latency())),
			from: s.thread(sym, ia.From.Thread), to: to, fromSeq: ia.From.Seq, toSeq: ia.To.Seq,
			lock: s.lockOf(sym, ia.Lock), stack: stack, kind: ia.Kind, confidence: ia.Confidence,
		}
	}
}

// holdKey is what a hold so far is found by: its lock in the upper half and, if several threads may hold it, its thread in the lower.
type holdKey uint64

func (h *Hold) key() holdKey {
	k := holdKey(h.Lock) << 32
	if h.Marks&jvmthread.HoldShared != 0 {
		k |= holdKey(h.Thread)
	}
	return k
}

// addHolds keeps the holds that ended. Those so far come again with the next window; one that does not ended where it was last seen.
func (s *Session) addHolds(b *Block, w *window.Window, sym *symbols.Table) {
	before := s.openHolds
	s.openHolds = make(map[holdKey]Hold, len(before))
	var done []Hold
	for i := range w.Holds {
		src := &w.Holds[i]
		h := Hold{Start: src.Start, End: src.End, Lock: LockIndex(s.lockOf(sym, src.Lock)), Thread: int(s.thread(sym, src.Thread)), Marks: src.Marks}
		key := h.key()
		if old, ok := before[key]; ok && old.Start == h.Start {
			delete(before, key)
		}
		if h.Marks&jvmthread.HoldSoFar != 0 {
			s.openHolds[key] = h
			continue
		}
		done = append(done, h)
	}
	for _, h := range before {
		h.Marks = h.Marks&^(jvmthread.HoldOpen|jvmthread.HoldSoFar) | jvmthread.HoldInferred
		done = append(done, h)
	}
	slices.SortFunc(done, byEnd)
	for _, h := range done {
		if h.End > h.Start {
			b.addHold(h)
		}
	}
}

// byEnd is the order of holds in a block: ends are searched.
func byEnd(x, y Hold) int {
	return cmp.Or(cmp.Compare(x.End, y.End), cmp.Compare(x.Lock, y.Lock), cmp.Compare(x.Start, y.Start), cmp.Compare(x.Thread, y.Thread))
}

// addDeadlocks keeps the deadlocks that were confirmed in a window.
func (s *Session) addDeadlocks(w *window.Window, sym *symbols.Table) {
	for i := range w.Deadlocks {
		f := &w.Deadlocks[i]
		d := Deadlock{Cycle: f.Cycle, Since: f.Since}
		for i := range f.Waits {
			wait := &f.Waits[i] // until the cycle closed; the next interval is in the deadlock
			d.Members = append(d.Members, Interval{
				Thread: int(s.thread(sym, wait.Thread)), Lock: LockIndex(s.lockOf(sym, wait.Lock)), Stack: StackID(s.stack(sym, wait.Stack)),
				Seq: wait.Seq + 1, Cycle: f.Cycle,
			})
		}
		s.now.Deadlocks = append(s.now.Deadlocks, d)
	}
	s.now.Deadlocks = last(s.now.Deadlocks, maxDeadlocks)
}

// endDeadlocks notes which deadlocks a thread has left, given the block that was added last.
func (s *Session) endDeadlocks(b *Block) {
	shared := true // with snapshots
	for i := range s.now.Deadlocks {
		d := &s.now.Deadlocks[i]
		if d.Until > 0 {
			continue
		}
		until := jvmthread.Time(math.MaxInt64)
		for _, m := range d.Members {
			if iv, open := s.open[uint32(m.Thread)]; !open || iv.Seq != m.Seq {
				until = min(until, b.endOf(uint32(m.Thread), m.Seq))
			}
		}
		if until == math.MaxInt64 {
			continue
		}
		if shared {
			shared, s.now.Deadlocks = false, slices.Clone(s.now.Deadlocks)
		}
		s.now.Deadlocks[i].Until = until
	}
}

// endOf returns the end of a thread's interval, or the start of the block if it has no such interval: the session was lost before.
func (b *Block) endOf(thread uint32, seq jvmthread.Seq) jvmthread.Time {
	for i := range len(b.lanes) - 1 {
		l := &b.lanes[i]
		if n := b.laneLen(i); l.thread == thread && seq >= l.seq && int64(seq-l.seq) < int64(n) {
			return b.endAt(int(l.first) + int(seq-l.seq))
		}
	}
	return b.Start
}
