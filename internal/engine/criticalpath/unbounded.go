// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// back walks backwards from the end. From a wait it moves to another thread without coming back.
type back struct {
	g      *Graph
	p      *Path
	now    jvmthread.Time
	thread jvmthread.ThreadID
	lane   int32
	index  int32              // of the current interval
	led    jvmthread.Interval // the wait that led to this thread
	isLed  bool               // there is one
	jumps  int                // moves to other threads since the last progress in time
}

// Unbounded finds the chain of activities that ended with a thread at hi: it walks backwards from thread to the thread that released it,
// and so on, down to lo. A segment's Via is the wait by which the path reached its thread, so shares contain the activity just before the
// release.
func (g *Graph) Unbounded(thread jvmthread.ThreadID, lo, hi jvmthread.Time, p *Path) {
	p.reset(thread, lo, hi)
	b := back{g: g, p: p, now: p.End}
	b.move(thread, g.laneOf(thread), none, nil)
	for b.now > lo {
		if p.Visited >= g.limits.MaxPieces {
			p.add(Segment{Start: lo, End: b.now, Thread: thread, Via: NoWait, Kind: KindCut})
			break
		}
		p.Visited++
		b.step()
	}
	backwards := p.Segments
	slices.Reverse(backwards)
	p.Segments = backwards[:0]
	for _, s := range backwards {
		p.add(s)
	}
}

// move continues with another thread at b.now.
func (b *back) move(thread jvmthread.ThreadID, at, index int32, led *jvmthread.Interval) {
	b.thread, b.lane, b.isLed = thread, at, led != nil
	if b.isLed {
		b.led = *led
	}
	if at < 0 {
		return
	}
	l := &b.g.lanes[at]
	if index >= 0 && b.g.start(l, index) < b.now && l.intervals.End(int(index)) >= b.now {
		b.index = index
		return
	}
	b.index = min(b.g.at(l, b.now-1), int32(l.intervals.Len())-1)
}

// ledBy returns the wait that led to this thread, or nil.
func (b *back) ledBy() *jvmthread.Interval {
	if !b.isLed {
		return nil
	}
	return &b.led
}

// emit adds the activity of the thread from a time to now to the path.
func (b *back) emit(seq jvmthread.Seq, kind Kind, led *jvmthread.Interval, from jvmthread.Time) {
	from = max(from, b.p.Start)
	if from >= b.now {
		return
	}
	via := NoWait
	if led != nil {
		var added bool
		if via, added = b.p.wait(jvmthread.IntervalRef{Thread: led.Thread, Seq: led.Seq}, NoWait); added {
			w := &b.p.Waits[via]
			w.Lock, w.Stack, w.State, w.Kind = led.Lock, led.Stack, led.State, led.Wait
		}
	}
	b.p.Segments = append(b.p.Segments, Segment{Start: from, End: b.now, Thread: b.thread, Seq: seq, Via: via, Kind: kind})
	b.now, b.jumps = from, 0
}

// step adds the interval that ends at b.now to the path, or moves to the thread that ended it.
func (b *back) step() {
	if b.lane < 0 || b.index < 0 {
		b.born()
		return
	}
	l := &b.g.lanes[b.lane]
	iv := l.intervals.At(int(b.index))
	switch {
	case iv.End < b.now: // after the end of the thread, or a gap
		b.emit(jvmthread.NoSeq, KindUnknown, b.ledBy(), iv.End)
		return
	case iv.Start >= b.now:
		b.index--
		return
	}
	kind, led := kindOf[iv.State], b.ledBy()
	switch kind {
	case KindSleep:
		if b.g.nodes[l.base+b.index].edge >= 0 && b.known(&iv) && b.jumps <= b.g.limits.MaxDepth && b.waited(l, &iv) {
			return
		}
	case kindEnd:
		if kind, led = b.stopped(l, &iv), &iv; kind == kindEnd {
			return
		}
	}
	b.emit(iv.Seq, kind, led, iv.Start)
	b.index--
}

// known reports whether the interval ended within the path.
func (b *back) known(iv *jvmthread.Interval) bool { return iv.End <= b.p.End }

// stopped moves to the thread that the wait depended on and returns kindEnd, or returns the kind with which the rest of the wait stays on
// the path.
func (b *back) stopped(l *lane, iv *jvmthread.Interval) Kind {
	b.g.nodes[l.base+b.index].flags |= onPath
	switch {
	case b.jumps > b.g.limits.MaxDepth:
		return KindCycle
	case iv.State == jvmthread.StateDeadlocked:
		return KindDeadlock
	case b.owned(l, iv):
		return kindEnd
	case b.known(iv) && iv.Marks.Has(jvmthread.MarkTimedOut) && iv.State != jvmthread.StateReentering:
		return KindTimer
	case b.waited(l, iv):
		return kindEnd
	case iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateReentering:
		return KindBlockedUnknown
	}
	return KindWaitUnknown
}

// owned moves to the last known owner of the lock during the interval. It returns false if there is none.
func (b *back) owned(l *lane, iv *jvmthread.Interval) bool {
	of := b.g.nodes[l.base+b.index].owned()
	if of < 0 {
		return false
	}
	k := &b.g.locks[of]
	at := b.g.holdAt(k, b.now-1)
	if at == k.stop || b.g.holds[at].start >= b.now {
		at--
	}
	for ; at >= k.first && b.g.holds[at].end > iv.Start; at-- {
		h, gap := &b.g.holds[at], KindWakeLatency
		if h.thread == iv.Thread {
			continue
		}
		if h.marks&(jvmthread.HoldInferred|jvmthread.HoldOpen) != 0 {
			gap = KindBlockedUnknown
		}
		b.emit(iv.Seq, gap, iv, h.end)
		b.leave(h.thread, h.lane, none, iv)
		return true
	}
	return false
}

// waited moves to the cause of the end of the wait. It returns false if the cause is unknown.
func (b *back) waited(l *lane, iv *jvmthread.Interval) bool {
	n := &b.g.nodes[l.base+b.index]
	if b.known(iv) && n.edge >= 0 {
		e := &b.g.edges[n.edge]
		n.flags |= onPath
		b.emit(iv.Seq, KindWakeLatency, iv, max(e.cause, iv.Start))
		if e.cause < iv.Start {
			b.index-- // the cause came before the wait
			return true
		}
		b.leave(e.thread, e.lane, e.index, iv)
		return true
	}
	if iv.State == jvmthread.StateJoining && iv.Peer != jvmthread.NoThread && (!b.known(iv) || !iv.Marks.Has(jvmthread.MarkInterrupted)) {
		return b.joining(iv)
	}
	return false
}

// joining moves to the thread that is joined. It returns false if that thread does not live during the interval.
func (b *back) joining(iv *jvmthread.Interval) bool {
	at := b.g.laneOf(iv.Peer)
	begin, over := b.g.lifetime(at, b.p.End)
	if begin >= b.now {
		return false
	}
	if over < b.now {
		b.emit(iv.Seq, KindWakeLatency, iv, max(over, iv.Start))
	}
	if over <= iv.Start {
		b.index--
	} else {
		b.leave(iv.Peer, at, none, iv)
	}
	return true
}

func (b *back) leave(thread jvmthread.ThreadID, at, index int32, led *jvmthread.Interval) {
	b.jumps++
	b.move(thread, at, index, led)
}

// born handles the time before the first interval of a thread.
func (b *back) born() {
	if b.lane >= 0 {
		l := &b.g.lanes[b.lane]
		if l.start >= 0 && b.jumps <= b.g.limits.MaxDepth && l.intervals.Start(0) <= b.p.End {
			e := &b.g.edges[l.start]
			b.emit(jvmthread.NoSeq, KindStartLatency, b.ledBy(), e.cause)
			b.leave(e.thread, e.lane, e.index, nil)
			return
		}
	}
	b.emit(jvmthread.NoSeq, KindUnknown, b.ledBy(), b.p.Start)
}
