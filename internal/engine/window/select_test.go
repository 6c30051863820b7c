// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// withWindow runs a simulated program in one window.
func withWindow(t *testing.T, seed uint64, threads, actions int, check func(*window.Window)) {
	t.Helper()
	sim := threadtest.Simulate(seed, threads, 3, actions)
	e := drive.New(engine.DefaultConfig(), nil)
	e.Add(ordering.Batch{Number: 1, Events: sim.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, check)
}

// Any budget is respected, and shown and folded intervals add up to the total.
func TestSelectKeepsBudgetAndTotals(t *testing.T) {
	for seed := range uint64(40) {
		for _, budget := range []int{1, 2, 3, 5, 10, 50, 200, 1000, 100_000} {
			withWindow(t, seed, 2+int(seed%30), 1500, func(w *window.Window) {
				if seed%2 == 1 {
					window.NewFinder().Find(w)
					w.FoldMinor()
				}
				w.Select(budget, 0)
				spans, shown := 1, window.Folded{}
				all := window.Folded{}
				for _, l := range w.Lanes {
					if !l.Hidden {
						spans++
					}
					for i, iv := range l.Intervals.All() {
						all.Count++
						all.Time += w.Length(iv)
						if l.Kept(i) {
							spans++
							shown.Count++
							shown.Time += w.Length(iv)
						} else if !l.Hidden {
							shown.Count++
							shown.Time += w.Length(iv)
							l.Folded.Count--
							l.Folded.Time -= w.Length(iv)
						}
					}
					if l.Folded != (window.Folded{}) {
						t.Errorf("program %d, budget %d: thread %d: folded count is off by %+v", seed, budget, l.Thread, l.Folded)
					}
				}
				if spans > budget {
					t.Errorf("program %d: %d spans, the budget is %d", seed, spans, budget)
				}
				if hidden := w.FoldedThreads(); shown.Time+hidden.Time != all.Time {
					t.Errorf("program %d, budget %d: %v shown and %v hidden of %v", seed, budget, shown.Time, hidden.Time, all.Time)
				}
			})
		}
	}
}

// The longest blocks are kept before shorter ones, each with the interval that ended it.
func TestSelectKeepsLongestBlocksWithCauses(t *testing.T) {
	withWindow(t, 1, 12, 30_000, func(w *window.Window) {
		w.Select(60, 0)
		var kept, folded []time.Duration
		for _, l := range w.Lanes {
			for i, iv := range l.Intervals.All() {
				if iv.State != jvmthread.StateBlocked {
					continue
				}
				if !l.Kept(i) {
					folded = append(folded, w.Length(iv))
					continue
				}
				kept = append(kept, w.Length(iv))
				for _, ia := range w.AppendCauses(nil, jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}) {
					if target, ok := w.Target(ia.From, ia.CauseTime); !ok {
						t.Errorf("neither the cause of %v nor its thread has a span: %v", iv, target)
					}
				}
			}
		}
		if len(kept) == 0 || len(folded) == 0 {
			t.Fatalf("%d kept, %d folded: the test needs both", len(kept), len(folded))
		}
		longestFolded, longer := time.Duration(0), 0
		for _, d := range folded {
			longestFolded = max(longestFolded, d)
		}
		for _, d := range kept {
			if d >= longestFolded {
				longer++
			}
		}
		if longer < len(kept)/2 {
			t.Errorf("only %d of %d kept blocks are longer than the longest folded one", longer, len(kept))
		}
	})
}
