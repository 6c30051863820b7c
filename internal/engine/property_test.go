// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// selfless removes what a thread did to itself, which the engine does not report as an interaction.
func selfless(truth []threadtest.Truth) (out []threadtest.Truth) {
	for _, tr := range truth {
		if tr.From != tr.To {
			out = append(out, tr)
		}
	}
	return out
}

func sortTruth(list []threadtest.Truth) {
	slices.SortFunc(list, func(a, b threadtest.Truth) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind))
	})
}

// The partition of events into batches and the arrival order of batches do not affect the result.
func TestBatchesDoNotMatter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		sim := simulate(seed)
		want := whole(t, sim.Events)
		rng := rand.New(rand.NewPCG(seed, 2))
		e := drive.New(engine.DefaultConfig(), nil)
		var got []string
		collect := func(w *window.Window) { got = append(got, describe(w)...) }
		all := batches(sim.Events, rng)
		for len(all) > 0 {
			n := min(len(all), 1+rng.IntN(8))
			rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
			for _, p := range all[:n] {
				e.Add(p)
				if rng.IntN(3) == 0 {
					e.Add(p) // duplicate
				}
			}
			e.Advance(collect)
			all = all[n:]
		}
		e.Close(jvmthread.NoTime, window.CutEnd, collect)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("program %d: whole - in pieces +:\n%s", seed, diff)
		}
	}
}

// The sums over windows do not depend on the length of windows.
func TestWindowsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		sim := simulate(seed)
		whole, pieces := make(map[jvmthread.ThreadID]window.Totals), make(map[jvmthread.ThreadID]window.Totals)
		interactions := [2]int{}
		run(t, sim.Events, time.Hour, func(w *window.Window) { addTotals(whole, w); interactions[0] += w.CountInteractions() })
		n := 0
		run(t, sim.Events, time.Duration(50+seed*7), func(w *window.Window) {
			addTotals(pieces, w)
			interactions[1] += w.CountInteractions()
			n++
		})
		for id, want := range whole {
			got := pieces[id]
			for s := range want {
				state := jvmthread.State(s)
				if state.Stopped() && state != jvmthread.StateBlocked {
					continue // a window does not contain threads that wait through all of it
				}
				if state == jvmthread.StateBlocked && want[s] != got[s] || want[s].Count != got[s].Count {
					t.Fatalf("program %d, %d windows: thread %d %v: %v in one window, %v in pieces", seed, n, id, state, want[s], got[s])
				}
			}
		}
		if interactions[0] != interactions[1] {
			t.Fatalf("program %d: %d interactions in one window, %d in pieces", seed, interactions[0], interactions[1])
		}
	}
}

func addTotals(sums map[jvmthread.ThreadID]window.Totals, w *window.Window) {
	for _, l := range w.Lanes {
		t := sums[l.Thread]
		for s := range t {
			t[s].Count += l.Totals[s].Count
			t[s].Time += l.Totals[s].Time
		}
		sums[l.Thread] = t
	}
}

func whole(t *testing.T, events []jvmthread.Event) (out []string) {
	t.Helper()
	run(t, events, engine.DefaultConfig().Window, func(w *window.Window) { out = append(out, describe(w)...) })
	return out
}

func describe(w *window.Window) (out []string) {
	for _, l := range w.Lanes {
		for _, iv := range l.Intervals.All() {
			out = append(out, fmt.Sprintf("%+v", iv))
		}
	}
	for ia := range w.Interactions() {
		out = append(out, fmt.Sprintf("%+v", ia))
	}
	return out
}
