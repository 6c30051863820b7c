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

// The sums over windows do not depend on where they are cut: each live thread counts in each, with or without an event.
func TestWindowsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		sim := simulate(seed)
		var whole, pieces added
		run(t, sim.Events, time.Hour, whole.add)
		run(t, sim.Events, time.Duration(50+seed*7), pieces.add)
		if whole.totals != pieces.totals || whole.waits != pieces.waits {
			t.Fatalf("program %d: %v and %v in one window, %v and %v in pieces", seed, whole.totals, whole.waits, pieces.totals, pieces.waits)
		}
		for id, want := range whole.threads {
			got := pieces.threads[id]
			for s := range want {
				if want[s].Count != got[s].Count || jvmthread.State(s) == jvmthread.StateBlocked && want[s] != got[s] {
					t.Fatalf("program %d: thread %d %v: %v in one window, %v in pieces", seed, id, jvmthread.State(s), want[s], got[s])
				}
			}
		}
		if whole.interactions != pieces.interactions {
			t.Fatalf("program %d: %d interactions in one window, %d in pieces", seed, whole.interactions, pieces.interactions)
		}
	}
}

// added is the sums over windows.
type added struct {
	totals       window.Totals
	waits        window.Waits
	threads      map[jvmthread.ThreadID]window.Totals // of their lanes
	interactions int
}

func (a *added) add(w *window.Window) {
	for s := range w.Totals {
		a.totals[s].Count += w.Totals[s].Count
		a.totals[s].Time += w.Totals[s].Time
	}
	for k := range w.Waits {
		a.waits[k].Count += w.Waits[k].Count
		a.waits[k].Time += w.Waits[k].Time
	}
	if a.threads == nil {
		a.threads = make(map[jvmthread.ThreadID]window.Totals)
	}
	addTotals(a.threads, w)
	a.interactions += w.CountInteractions()
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
