// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// blocked continues with the owner of the lock at w.now.
func (w *walk) blocked(f *frame, n *node, iv *jvmthread.Interval, end jvmthread.Time) {
	g := w.g
	k := &g.locks[f.lock]
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
			end, passed = min(end, h.start), g.passed(k, at, iv, w.p.End)
		}
	}
	w.handoff(f, n, iv, end, passed)
}

// passed reports whether the lock has no owner just before the hold at an index: the previous hold was released during the interval, and
// the next owner had not woken up yet.
func (g *Graph) passed(k *lock, at int32, iv *jvmthread.Interval, known jvmthread.Time) bool {
	if at <= k.first {
		return false
	}
	before, next := &g.holds[at-1], &g.holds[at]
	return before.end > iv.Start && before.marks&(jvmthread.HoldInferred|jvmthread.HoldOpen) == 0 &&
		next.start <= known && next.marks&jvmthread.HoldSinceBefore == 0
}

// handoff adds a block without a known owner to the path. After the release it is latency.
func (w *walk) handoff(f *frame, n *node, iv *jvmthread.Interval, end jvmthread.Time, passed bool) {
	kind := KindBlockedUnknown
	if iv.State == jvmthread.StateParked {
		if !passed {
			w.waiting(f, n, iv, end)
			return
		}
	} else if n.edge >= 0 && iv.End <= w.p.End {
		if cause := w.g.edges[n.edge].cause; w.now >= cause {
			passed = true
		} else if !passed {
			end = min(end, cause)
		}
	}
	if passed {
		kind = KindWakeLatency
	}
	w.emit(f, iv.Seq, kind, f.wait, end)
}

// waiting continues with the thread that ended the wait, up to the time at which it did so.
func (w *walk) waiting(f *frame, n *node, iv *jvmthread.Interval, end jvmthread.Time) {
	known := iv.End <= w.p.End
	switch {
	case known && iv.Marks.Has(jvmthread.MarkTimedOut):
		w.emit(f, iv.Seq, KindTimer, f.wait, end)
	case known && n.edge >= 0:
		e := &w.g.edges[n.edge]
		if w.now >= e.cause {
			w.emit(f, iv.Seq, KindWakeLatency, f.wait, end)
			return
		}
		w.follow(f, n, e.thread, e.lane, min(end, e.cause))
	case iv.State == jvmthread.StateJoining && iv.Peer != jvmthread.NoThread && (!known || !iv.Marks.Has(jvmthread.MarkInterrupted)):
		w.follow(f, n, iv.Peer, w.g.laneOf(iv.Peer), end)
	default:
		w.emit(f, iv.Seq, KindWaitUnknown, f.wait, end)
	}
}
