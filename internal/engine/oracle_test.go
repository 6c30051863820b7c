// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

var programs = flag.Int("programs", 10_000, "how many random programs the oracle compares")

// The simulator knows the correct result for the events that it emits: the states of each thread, which thread released which, and the
// owners of each lock. The engine must compute exactly that from the events.
func TestEngineMatchesOracle(t *testing.T) {
	t.Parallel()
	var intervals, interactions, holds atomic.Int64
	workers := uint64(runtime.GOMAXPROCS(0))
	t.Run("programs", func(t *testing.T) {
		for worker := range workers {
			t.Run(strconv.FormatUint(worker, 10), func(t *testing.T) {
				t.Parallel()
				for seed := worker; seed < uint64(*programs); seed += workers {
					sim := simulate(seed)
					run(t, sim.Events, time.Hour, func(w *window.Window) {
						for _, err := range []error{sameInteractions(sim, w), sameIntervals(sim, w), sameHolds(sim, w)} {
							if err != nil {
								t.Fatalf("program %d: %v", seed, err)
							}
						}
						for _, l := range w.Lanes {
							intervals.Add(int64(l.Intervals.Len()))
						}
						interactions.Add(int64(w.CountInteractions()))
						holds.Add(int64(len(w.Holds)))
					})
				}
			})
		}
	})
	t.Logf("%d programs: %d intervals, %d interactions, %d holds", *programs, intervals.Load(), interactions.Load(), holds.Load())
	if interactions.Load() < int64(10**programs) || holds.Load() < int64(5**programs) {
		t.Error("too few interactions or holds")
	}
}

func simulate(seed uint64) *threadtest.Simulation {
	threads := 2 + int(seed%14)
	if seed%50 == 0 {
		threads = 64
	}
	return threadtest.Simulate(seed, threads, 1+int(seed%5), 300)
}

func sameInteractions(sim *threadtest.Simulation, w *window.Window) error {
	var got []threadtest.Truth
	for ia := range w.Interactions() {
		got = append(got, threadtest.Truth{Kind: ia.Kind, From: ia.From.Thread, To: ia.To.Thread, At: ia.EffectTime, Lock: ia.Lock})
	}
	want := selfless(sim.Truth)
	sortTruth(want)
	sortTruth(got)
	if !slices.Equal(want, got) {
		diff := gocmp.Diff(want, got)
		return fmt.Errorf("interactions: want - got +:\n%s", diff)
	}
	return nil
}

func sameIntervals(sim *threadtest.Simulation, w *window.Window) error {
	for _, l := range w.Lanes {
		var got []threadtest.Step
		for _, iv := range l.Intervals.All() {
			got = append(got, threadtest.Step{At: iv.Start, State: iv.State})
		}
		want := sim.Steps[l.Thread]
		if n := len(want); n > 0 && want[n-1].State == jvmthread.StateDead {
			want = want[:n-1]
		}
		if !slices.Equal(want, got) {
			diff := gocmp.Diff(want, got)
			return fmt.Errorf("intervals of %d: want - got +:\n%s", l.Thread, diff)
		}
	}
	return nil
}

// sameHolds checks that each hold is part of a real one. An inferred end may be later than the real one, but not later than the first event
// of the next owner with the lock.
func sameHolds(sim *threadtest.Simulation, w *window.Window) error {
	byLock := make(map[jvmthread.LockID][]threadtest.Tenure)
	for _, tn := range sim.Tenures {
		byLock[tn.Lock] = append(byLock[tn.Lock], tn)
	}
	for _, h := range w.Holds {
		list, ok := byLock[h.Lock]
		if !ok || h.End == h.Start {
			continue // the thread's own object, held by the ending thread without an event
		}
		at := -1
		for i, tn := range list {
			if tn.Got <= h.Start {
				at = i
			}
		}
		if at < 0 || list[at].Thread != h.Thread {
			return fmt.Errorf("%+v: another thread owned the lock at its start: %+v", h, list)
		}
		released, until := list[at].Released, w.End
		for _, next := range list[at+1:] {
			if next.Reported != jvmthread.NoTime {
				until = next.Reported
				break
			}
		}
		switch {
		case h.Marks&jvmthread.HoldInferred == 0 && h.Marks&jvmthread.HoldOpen == 0 && h.End != released:
			return fmt.Errorf("%+v: want end %d", h, released)
		case h.Marks&jvmthread.HoldOpen != 0 && released != jvmthread.NoTime && h.End > until:
			return fmt.Errorf("open %+v ends after the next owner reported the lock at %d", h, until)
		case h.End > until:
			return fmt.Errorf("%+v ends after the next owner reported the lock at %d", h, until)
		}
	}
	return nil
}
