// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// On simulated programs, paths tile their windows, the time of each interval on the path is at most its length, and no known cause stays
// unexplained.
func TestPathsOfPrograms(t *testing.T) {
	paths, explained, idle := 0, jvmthread.Time(0), 0
	for seed := range uint64(400) {
		for _, unbounded := range []bool{false, true} {
			withWindow(t, seed, 2+int(seed%30), 1500, func(w *window.Window) {
				f := window.NewFinder()
				f.Unbounded = unbounded
				f.Find(w)
				if w.Verdict == nil {
					t.Fatalf("program %d has no path", seed)
				}
				paths++
				checkPath(t, seed, w)
				for i, l := range w.Lanes {
					for j, iv := range l.Intervals.All() {
						if on := w.OnPath(i, j); on > jvmthread.Time(w.Length(iv)) {
							t.Errorf("program %d: %v of %v are on the path", seed, on, w.Length(iv))
						}
						if w.Idle(i, j) {
							idle++
							if !iv.State.Stopped() || iv.State == jvmthread.StateBlocked {
								t.Errorf("program %d: %v is idle", seed, iv)
							}
						}
					}
				}
				for _, s := range w.Verdict.Path.Segments {
					if s.Kind == criticalpath.KindRun && s.Via != criticalpath.NoWait {
						explained += s.End - s.Start
					}
				}
				for _, s := range w.Verdict.Savings {
					if s.Drag < 0 || s.Drag > s.Bound {
						t.Errorf("program %d: %+v", seed, s)
					}
				}
			})
		}
	}
	if explained == 0 || idle == 0 {
		t.Errorf("%d paths: %v of other threads' work explain waits, %d idle waits: the test needs both", paths, time.Duration(explained), idle)
	}
}

func checkPath(t *testing.T, seed uint64, w *window.Window) {
	t.Helper()
	p := w.Verdict.Path
	at := p.Start
	for _, s := range p.Segments {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("program %d: segment %+v: want start %v", seed, s, at)
		}
		at = s.End
		if s.Kind == criticalpath.KindCycle || s.Kind == criticalpath.KindTooDeep {
			t.Errorf("program %d, which has no cycles: %+v", seed, s)
		}
	}
	if at != p.End {
		t.Fatalf("program %d: path ends at %v, want %v", seed, at, p.End)
	}
}
