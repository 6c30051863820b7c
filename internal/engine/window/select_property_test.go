// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// No sleep, idle wait or runnable interval gets a span while a contended wait of more than 1 % of its thread's contended time has none,
// unless it is the other end of the link of a wait that has one. Threads without a span are left out: they are those that waited least.
func TestSelectPrefersContendedWaits(t *testing.T) {
	const windows = 1000
	folded := 0
	for seed := range uint64(windows) {
		withWindow(t, seed, 2+int(seed%30), 800, func(w *window.Window) {
			window.NewFinder().Find(w)
			w.Select(20+int(seed%7)*30, int(seed%3)*5)
			sources := make(map[jvmthread.IntervalRef]bool)
			missing := false
			for _, l := range w.Lanes {
				total := l.Waits.Contended().Time
				for i := range l.Intervals.Len() {
					iv := l.Intervals.At(i)
					switch {
					case l.Kept(i):
						for _, ia := range w.AppendCauses(nil, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}) {
							sources[ia.From] = true
						}
					case !l.Hidden && iv.Wait.Contended() && 100*w.Length(iv) > total:
						missing = true
					}
				}
			}
			if !missing {
				return
			}
			folded++
			for n, l := range w.Lanes {
				for i := range l.Intervals.Len() {
					iv := l.Intervals.At(i)
					unimportant := iv.State == jvmthread.StateRunnable || iv.Wait == jvmthread.WaitSleep || iv.Wait != jvmthread.WaitNone && w.Idle(n, i)
					if l.Kept(i) && unimportant && !sources[jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}] {
						t.Fatalf("program %d: %s of thread %d is kept, but a contended wait is not", seed, iv.State, iv.Thread)
					}
				}
			}
		})
	}
	if folded < windows/4 {
		t.Errorf("only %d of %d windows had to fold contended waits", folded, windows)
	}
}

// Two threads pass a lock to each other 20 000 times. A trace of 2 000 spans, of which the critical path takes 501, has both ends of at least
// 700 handoffs.
func TestSelectKeepsBothEndsOfHandoffs(t *testing.T) {
	for _, juc := range []bool{false, true} {
		const handoffs = 20_000
		lock := jvmthread.LockID{Class: 1, Hash: 1}
		events := []jvmthread.Event{{Time: 1, Thread: 1, Kind: jvmthread.KindThreadStart}, {Time: 2, Thread: 2, Kind: jvmthread.KindThreadStart}}
		at, owner := jvmthread.Time(10), jvmthread.ThreadID(1)
		put := func(ev jvmthread.Event) {
			at += 1000 + at%7
			ev.Time = at
			events = append(events, ev)
		}
		for range handoffs {
			other := 3 - owner
			if juc {
				put(jvmthread.Event{Thread: other, Peer: owner, Lock: lock, Kind: jvmthread.KindPark})
				put(jvmthread.Event{Thread: owner, Peer: other, Kind: jvmthread.KindUnpark})
				put(jvmthread.Event{Thread: other, Kind: jvmthread.KindUnparked})
			} else {
				put(jvmthread.Event{Thread: other, Peer: owner, Lock: lock, Kind: jvmthread.KindContendedEnter})
				put(jvmthread.Event{Thread: other, Lock: lock, Kind: jvmthread.KindContendedEntered})
			}
			owner = other
		}
		e := drive.New(engine.DefaultConfig(), nil)
		e.Add(ordering.Batch{Number: 1, Watermark: at + 1, Events: events})
		e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
			window.NewFinder().Find(w)
			w.Select(2000, 501)
			both := 0
			for ia := range w.Interactions() {
				from, ok := w.Target(ia.From, ia.CauseTime)
				to, _ := w.Target(ia.To, ia.EffectTime)
				if ia.Kind == jvmthread.InteractionHandoff && ok && !from.Folded && !to.Folded {
					both++
				}
			}
			t.Logf("%d handoffs with both ends, java.util.concurrent: %t", both, juc)
			if both < 700 {
				t.Errorf("java.util.concurrent %t: %d handoffs with both ends", juc, both)
			}
		})
	}
}
