// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
)

// run passes a history to an engine and calls do with each window.
func run(sym *symbols.Table, events []jvmthread.Event, length time.Duration, do func(*window.Window)) {
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e := drive.New(cfg, sym)
	finder := window.NewFinder()
	yield := func(w *window.Window) {
		finder.Find(w)
		do(w)
	}
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
}

// part is a part of a contended wait.
type part struct {
	Thread     jvmthread.ThreadID
	Start, End jvmthread.Time
}

// join sorts parts and joins those that touch.
func join(parts []part) (out []part) {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Start, b.Start)) })
	for _, p := range parts {
		if n := len(out) - 1; n >= 0 && out[n].Thread == p.Thread && out[n].End == p.Start {
			out[n].End = p.End
		} else {
			out = append(out, p)
		}
	}
	return out
}

// checkThreads checks how many threads waited for each lock of an incident, if it lists all waits.
func checkThreads(t *testing.T, inc *incident.Incident) {
	t.Helper()
	if inc.Count > incident.MaxWaits {
		return
	}
	for _, l := range inc.Locks {
		threads := make(map[jvmthread.ThreadID]bool)
		for i := range inc.Waits {
			if iv := inc.Waits[i].Interval; l.ID.Is(iv.Lock) || iv.Lock.IsZero() && l.ID == (incident.Awaited{Kind: incident.AwaitedSite, Number: uint32(iv.Stack)}) {
				threads[iv.Thread] = true
			}
		}
		if len(threads) != l.Threads || !threads[l.Thread] {
			t.Errorf("incident %+v, lock %v: %d threads, one of them %d, want %v", inc.ID, l.ID, l.Threads, l.Thread, threads)
		}
	}
}

// Each nanosecond of a contended wait belongs to exactly one incident, however windows and limits cut them.
func TestEachBlockedNanosecondIsInOneIncident(t *testing.T) {
	t.Parallel()
	incidents, nested, carried, cut := 0, 0, 0, 0
	for seed := range uint64(1500) {
		sim := threadtest.Simulate(seed, 3+int(seed%6), 2+int(seed%5), 250)
		f := incident.NewFinder(incident.Options{MaxPerWindow: 1 << 20})
		if seed%3 == 0 {
			f.CutAfter(jvmthread.Time(100 + seed%300))
		}
		var want, got []part
		complete, ids := true, make(map[incident.ID]bool)
		run(nil, sim.Events, time.Duration(60+seed%200*9), func(w *window.Window) {
			for _, l := range w.Lanes {
				for _, iv := range l.Intervals.All() {
					if from, to := w.Clip(iv); iv.Wait.Contended() && from < to {
						want = append(want, part{iv.Thread, from, to})
					}
				}
			}
			for _, inc := range f.Find(w).Incidents {
				for _, err := range threadtest.ValidateIncident(inc) {
					t.Errorf("program %d: %v", seed, err)
				}
				if ids[inc.ID] {
					t.Errorf("program %d: two incidents have the ID %+v", seed, inc.ID)
				}
				ids[inc.ID] = true
				checkThreads(t, inc)
				complete = complete && inc.Count <= incident.MaxWaits
				for i := range inc.Waits {
					got = append(got, part{inc.Waits[i].Interval.Thread, inc.Waits[i].Start, inc.Waits[i].End})
				}
				incidents++
				if len(inc.Locks) > 1 {
					nested++
				}
				if inc.Start < w.Start {
					carried++
				}
				if inc.Rest {
					cut++
				}
			}
		})
		if !complete {
			continue // the sums are checked below
		}
		if diff := gocmp.Diff(join(want), join(got)); diff != "" {
			t.Fatalf("program %d: waits of threads - of incidents +:\n%s", seed, diff)
		}
	}
	t.Logf("%d incidents, %d with several locks, %d in several windows, %d after a cut", incidents, nested, carried, cut)
	if nested < 100 || carried < 100 || cut < 100 {
		t.Error("the programs do not try enough")
	}
}

// The contended time of a window is that of what it reports, plus the rest, plus what was added to the open incidents, whatever is reported.
func TestTimesAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		sim := threadtest.Simulate(seed, 3+int(seed%9), 2+int(seed%4), 600)
		f := incident.NewFinder(incident.Options{MinTime: time.Duration(seed % 200), MaxPerWindow: int(seed % 4)})
		if seed%2 == 0 {
			f.CutAfter(jvmthread.Time(100 + seed))
		}
		var before time.Duration
		run(nil, sim.Events, time.Duration(50+seed*13), func(w *window.Window) {
			found := f.Find(w)
			var reported time.Duration
			for _, inc := range found.Incidents {
				reported += inc.Blocked
				if inc.Blocked < time.Duration(seed%200) {
					t.Errorf("program %d: reports an incident of %v", seed, inc.Blocked)
				}
			}
			if len(found.Incidents) > int(seed%4) || int(found.Reported.Count) != len(found.Incidents) {
				t.Errorf("program %d: %d incidents, counted %d", seed, len(found.Incidents), found.Reported.Count)
			}
			have := found.Reported.Time + found.Rest.Time + found.Open.Time - before
			if want := w.Waits.Contended().Time; have != want || reported != found.Reported.Time {
				t.Fatalf("program %d, window at %d: threads waited %v, incidents have %v: %+v, open before: %v", seed, w.Start, want, have, *found, before)
			}
			before = found.Open.Time
		})
		if before != 0 {
			t.Errorf("program %d: %v are in incidents that never end", seed, before)
		}
	}
}
