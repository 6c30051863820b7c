// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// moment is the state of a bounded path at one nanosecond.
type moment struct {
	thread jvmthread.ThreadID
	seq    jvmthread.Seq
	kind   criticalpath.Kind
	chain  []jvmthread.IntervalRef // of waits, the innermost last
}

func (m moment) equal(o moment) bool {
	return m.thread == o.thread && m.seq == o.seq && m.kind == o.kind && slices.Equal(m.chain, o.chain)
}

// reference computes what is on a path at one nanosecond, directly from the rules of the package comment. It is slow but simple.
func (w *world) reference(thread jvmthread.ThreadID, at, hi jvmthread.Time, depth int) moment {
	m := moment{thread: thread}
	unborn := make(map[jvmthread.ThreadID]bool)
	for moves := 0; ; moves++ {
		iv, ok := w.interval(m.thread, at)
		m.seq = iv.Seq
		if !ok {
			start, edge := w.start(m.thread, at, hi)
			switch {
			case !start:
				m.kind = criticalpath.KindUnknown
			case edge.CauseTime <= at:
				m.kind = criticalpath.KindStartLatency
			case unborn[m.thread]:
				m.kind = criticalpath.KindCycle
			case moves >= depth:
				m.kind = criticalpath.KindTooDeep
			default:
				unborn[m.thread] = true
				m.thread = edge.From.Thread
				continue
			}
			return m
		}
		kind, next, wait := w.classify(iv, at, hi)
		if wait {
			ref := jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}
			cycle := slices.Contains(m.chain, ref)
			m.chain = append(m.chain, ref)
			switch {
			case iv.State == jvmthread.StateDeadlocked, iv.Wait.Idle():
			case cycle:
				kind, next = criticalpath.KindCycle, jvmthread.NoThread
			case moves >= depth:
				kind, next = criticalpath.KindTooDeep, jvmthread.NoThread
			}
		}
		if next == jvmthread.NoThread {
			m.kind = kind
			return m
		}
		m.thread = next
	}
}

// classify returns the kind of an interval at a time, whether it is a wait, and the thread that it waits for, if any.
func (w *world) classify(iv jvmthread.Interval, at, hi jvmthread.Time) (kind criticalpath.Kind, next jvmthread.ThreadID, wait bool) {
	ia, edge := w.cause(iv)
	edge = edge && iv.End <= hi
	switch iv.State {
	case jvmthread.StateRunnable:
		return criticalpath.KindRun, 0, false
	case jvmthread.StateSuspended:
		return criticalpath.KindSuspended, 0, false
	case jvmthread.StateQueued:
		return criticalpath.KindRunQueue, 0, false
	case jvmthread.StateDeadlocked:
		return criticalpath.KindDeadlock, 0, true
	case jvmthread.StateUnknown, jvmthread.StateDead:
		return criticalpath.KindUnknown, 0, false
	case jvmthread.StateSleeping:
		if !edge {
			return criticalpath.KindSleep, 0, false
		}
	}
	if iv.Wait.Idle() {
		if edge && ia.CauseTime <= at && !iv.Marks.Has(jvmthread.MarkTimedOut) {
			return criticalpath.KindWakeLatency, 0, true
		}
		return criticalpath.KindIdle, 0, true
	}
	block := iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateReentering
	if block || iv.State == jvmthread.StateParked {
		var before, next *jvmthread.Hold
		for i := range w.holds {
			h := &w.holds[i]
			switch {
			case h.Lock != iv.Lock:
			case h.End <= at:
				before = h
			case h.Start <= at && h.Thread != iv.Thread:
				return 0, h.Thread, true
			case next == nil:
				next = h
			}
		}
		if next != nil && next.Start > at && next.Start <= hi && next.Marks&jvmthread.HoldSinceBefore == 0 &&
			before != nil && before.End > iv.Start && before.Marks&(jvmthread.HoldInferred|jvmthread.HoldOpen) == 0 {
			return criticalpath.KindWakeLatency, 0, true
		}
	}
	switch {
	case block && edge && ia.CauseTime <= at:
		return criticalpath.KindWakeLatency, 0, true
	case block:
		return criticalpath.KindBlockedUnknown, 0, true
	case iv.Marks.Has(jvmthread.MarkTimedOut) && iv.End <= hi:
		return criticalpath.KindTimer, 0, true
	case edge && ia.CauseTime <= at:
		return criticalpath.KindWakeLatency, 0, true
	case edge:
		return 0, ia.From.Thread, true
	case iv.State == jvmthread.StateJoining && iv.Peer != 0 && (iv.End > hi || !iv.Marks.Has(jvmthread.MarkInterrupted)):
		return w.joining(iv.Peer, at, hi)
	}
	return criticalpath.KindWaitUnknown, 0, true
}

// joining is classify for a join whose end has no known cause.
func (w *world) joining(peer jvmthread.ThreadID, at, hi jvmthread.Time) (criticalpath.Kind, jvmthread.ThreadID, bool) {
	if int(peer) > len(w.lanes) || len(w.lanes[peer-1]) == 0 {
		return criticalpath.KindWaitUnknown, 0, true // not in the graph
	}
	lane := w.lanes[peer-1]
	if at >= lane[len(lane)-1].End {
		return criticalpath.KindWakeLatency, 0, true // the thread has ended
	}
	if starts, _ := w.start(peer, at, hi); at < lane[0].Start && !starts {
		return criticalpath.KindWaitUnknown, 0, true
	}
	return 0, peer, true
}

func (w *world) interval(thread jvmthread.ThreadID, at jvmthread.Time) (jvmthread.Interval, bool) {
	if thread >= 1 && int(thread) <= len(w.lanes) {
		for _, iv := range w.lanes[thread-1] {
			if iv.Start <= at && at < iv.End {
				return iv, true
			}
		}
	}
	return jvmthread.Interval{}, false
}

func (w *world) start(thread jvmthread.ThreadID, at, hi jvmthread.Time) (found bool, ia jvmthread.Interaction) {
	for _, ia := range w.interactions {
		if first := (jvmthread.IntervalRef{Thread: thread, Seq: 1}); ia.Kind == jvmthread.InteractionStart && ia.To == first {
			birth := w.lanes[thread-1][0].Start
			return at < birth && birth <= hi, ia
		}
	}
	return false, ia
}

func (w *world) cause(iv jvmthread.Interval) (jvmthread.Interaction, bool) {
	for _, ia := range w.interactions {
		if ia.Kind != jvmthread.InteractionStart && ia.To == (jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}) {
			return ia, true
		}
	}
	return jvmthread.Interaction{}, false
}

// checkReference compares a bounded path with the reference at every nanosecond.
func (w *world) checkReference(t *testing.T, p *criticalpath.Path, depth int) {
	t.Helper()
	for _, s := range p.Segments {
		have := moment{thread: s.Thread, seq: s.Seq, kind: s.Kind}
		for wait := range p.Chain(s) {
			have.chain = append(have.chain, wait.Ref)
		}
		slices.Reverse(have.chain)
		for at := s.Start; at < s.End; at++ {
			if want := w.reference(p.Thread, at, p.End, depth); !have.equal(want) {
				require.Equal(t, want, have, "at %d of thread %d over %d..%d", at, p.Thread, p.Start, p.End)
			}
		}
	}
}

// validate checks the invariants of every path.
func validate(t *testing.T, w *world, p *criticalpath.Path) {
	t.Helper()
	at := p.Start
	for i, s := range p.Segments {
		require.Equal(t, at, s.Start, "segments are contiguous")
		require.Greater(t, s.End, s.Start, "segments are not empty")
		require.Less(t, int(s.Via), len(p.Waits))
		at = s.End
		if i > 0 {
			before := p.Segments[i-1]
			require.False(t, before.Thread == s.Thread && before.Seq == s.Seq && before.Kind == s.Kind && before.Via == s.Via, "adjacent segments are merged")
		}
		iv, ok := w.interval(s.Thread, s.Start)
		require.Equal(t, iv.Seq, s.Seq)
		if ok {
			require.LessOrEqual(t, s.End, iv.End)
		}
	}
	require.Equal(t, p.End, at, "segments cover the window")
	for i, wait := range p.Waits {
		require.Less(t, int(wait.Parent), i)
	}
}
