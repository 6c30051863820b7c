// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// blocked continues with the owner of the lock at w.now.
func (w *walk) blocked(f *frame, l *lane, n *node, end jvmthread.Time) {
	g := w.g
	k := &g.locks[n.lock]
	at, passed := g.holdAt(k, w.now), false
	if at < k.stop {
		h := &g.holds[at]
		switch own := h.thread == f.thread; {
		case h.start <= w.now && !own:
			w.follow(f, n, h.thread, h.lane, min(end, h.end))
			return
		case h.start <= w.now:
			end = min(end, h.end)
		default:
			end, passed = min(end, h.start), g.passed(k, at, g.start(l, f.index), w.p.End)
		}
	}
	w.handoff(f, l, n, end, passed)
}

// passed reports whether the lock has no owner just before the hold at an index: the previous hold was released after start, and
// the next owner had not woken up yet.
func (g *Graph) passed(k *lock, at int32, start, known jvmthread.Time) bool {
	if at <= k.first {
		return false
	}
	before, next := &g.holds[at-1], &g.holds[at]
	return before.end > start && before.marks&(jvmthread.HoldInferred|jvmthread.HoldOpen) == 0 &&
		next.start <= known && next.marks&jvmthread.HoldSinceBefore == 0
}

// handoff adds a block without a known owner to the path. After the release it is latency.
func (w *walk) handoff(f *frame, l *lane, n *node, end jvmthread.Time, passed bool) {
	kind := KindBlockedUnknown
	if n.state == jvmthread.StateParked {
		if !passed {
			w.waiting(f, l, n, end)
			return
		}
	} else if !passed && n.edge >= 0 && n.end <= w.p.End {
		if cause := w.g.edges[n.edge].cause; w.now >= cause {
			passed = true
		} else {
			end = min(end, cause)
		}
	}
	if passed {
		kind = KindWakeLatency
	}
	w.emit(f, l.seq(f.index), kind, f.wait, end)
}

// idle adds the wait of a thread without a task to the path, which does not continue with whoever finally has one: before, that thread did
// work of its own.
func (w *walk) idle(f *frame, l *lane, n *node, end jvmthread.Time) {
	kind := KindIdle
	if n.edge >= 0 && n.end <= w.p.End && n.flags&timedOut == 0 {
		if cause := w.g.edges[n.edge].cause; w.now < cause {
			end = min(end, cause)
		} else {
			kind = KindWakeLatency
		}
	}
	w.emit(f, l.seq(f.index), kind, f.wait, end)
}

// waiting continues with the thread that ended the wait, up to the time at which it did so.
func (w *walk) waiting(f *frame, l *lane, n *node, end jvmthread.Time) {
	known := n.end <= w.p.End
	switch {
	case known && n.flags&timedOut != 0:
		w.emit(f, l.seq(f.index), KindTimer, f.wait, end)
	case known && n.edge >= 0:
		e := &w.g.edges[n.edge]
		if w.now >= e.cause {
			w.emit(f, l.seq(f.index), KindWakeLatency, f.wait, end)
			return
		}
		w.follow(f, n, e.thread, e.lane, min(end, e.cause))
	case n.state == jvmthread.StateJoining:
		iv := l.intervals.At(int(f.index))
		if iv.Peer != jvmthread.NoThread && (!known || !iv.Marks.Has(jvmthread.MarkInterrupted)) {
			w.joining(f, l, n, iv.Peer, end)
			return
		}
		fallthrough
	default:
		w.emit(f, l.seq(f.index), KindWaitUnknown, f.wait, end)
	}
}

// joining continues with the thread that is joined while it lives.
func (w *walk) joining(f *frame, l *lane, n *node, peer jvmthread.ThreadID, end jvmthread.Time) {
	at := w.g.laneOf(peer)
	switch begin, over := w.g.lifetime(at, w.p.End); {
	case w.now < begin:
		w.emit(f, l.seq(f.index), KindWaitUnknown, f.wait, min(end, begin))
	case w.now >= over:
		w.emit(f, l.seq(f.index), KindWakeLatency, f.wait, end)
	default:
		w.follow(f, n, peer, at, min(end, over))
	}
}

// lifetime returns when a thread begins and ends. It begins with its first interval, or at any time if a known thread starts it by known.
// A thread that is not in the graph begins after everything else.
func (g *Graph) lifetime(at int32, known jvmthread.Time) (begin, over jvmthread.Time) {
	if at < 0 || g.lanes[at].intervals.Len() == 0 {
		return math.MaxInt64, math.MaxInt64
	}
	l := &g.lanes[at]
	begin, over = l.intervals.Start(0), g.nodes[int(l.base)+l.intervals.Len()-1].end
	if l.start >= 0 && begin <= known {
		begin = math.MinInt64
	}
	return begin, over
}
