// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The holders of the root are those of the whole incident, whatever the root was in some of its windows.
func TestHoldersOfAllWindows(t *testing.T) {
	t.Parallel()
	incidents, renamed := 0, 0
	for seed := range uint64(1000) {
		sim := threadtest.Simulate(seed, 3+int(seed%6), 2+int(seed%5), 250)
		f := incident.NewFinder(incident.Options{MaxPerWindow: 1 << 20})
		holds := make(map[jvmthread.LockID][]part) // by window
		lanes := make(map[jvmthread.ThreadID][]jvmthread.Interval)
		run(nil, sim.Events, time.Duration(60+seed%200*9), func(w *window.Window) {
			for _, h := range w.Holds {
				holds[h.Lock] = append(holds[h.Lock], part{h.Thread, max(h.Start, w.Start), min(h.End, w.End)})
			}
			for _, l := range w.Lanes {
				for i := range l.Intervals.Len() {
					iv := l.Intervals.At(i)
					iv.Start, iv.End = max(iv.Start, w.Start), min(iv.End, w.End)
					lanes[l.Thread] = append(lanes[l.Thread], iv)
				}
			}
			for _, inc := range f.Find(w).Incidents {
				root := inc.Root()
				if inc.Start >= w.Start || inc.Count > incident.MaxWaits || root.ID.Lock.Class == jvmthread.NoClass {
					continue
				}
				incidents++
				if slices.ContainsFunc(inc.Locks, func(l incident.Lock) bool { return l.ID != root.ID && l.WasRoot() }) {
					renamed++
				}
				if diff := gocmp.Diff(holdersOf(inc, holds[root.ID.Lock]), inc.Holders); diff != "" {
					t.Errorf("program %d, incident %+v: holders by its waits -, its own +:\n%s", seed, inc.ID, diff)
				}
				checkDoing(t, inc, holds[root.ID.Lock], lanes)
			}
		})
	}
	t.Logf("%d incidents in several windows, %d with several roots", incidents, renamed)
	if incidents < 1000 || renamed < 10 {
		t.Error("the programs do not try enough")
	}
}

// checkDoing computes what the holders of the root did for most of the blocked time from all waits, holds and intervals.
func checkDoing(t *testing.T, inc *incident.Incident, holds []part, lanes map[jvmthread.ThreadID][]jvmthread.Interval) {
	t.Helper()
	type activity struct {
		state jvmthread.State
		wait  jvmthread.Wait
		stack jvmthread.StackID
	}
	all, by := make(map[activity]time.Duration), make(map[jvmthread.ThreadID]map[activity]time.Duration)
	var blocked time.Duration
	waits := waitsOf(inc)
	for _, h := range holds {
		blocked += overlap(h, waits)
		for _, iv := range lanes[h.Thread] {
			a := activity{iv.State, iv.Wait, iv.Stack}
			if d := overlap(part{Start: max(h.Start, iv.Start), End: min(h.End, iv.End)}, waits); d > 0 {
				all[a] += d
				if by[h.Thread] == nil {
					by[h.Thread] = make(map[activity]time.Duration)
				}
				by[h.Thread][a] += d
			}
		}
	}
	same := func(h *incident.Hold, of map[activity]time.Duration) bool {
		if h == nil {
			return len(of) == 0
		}
		return of[activity{h.Doing.State, h.Doing.Wait, h.Doing.Stack}] == slices.Max(slices.Collect(maps.Values(of)))
	}
	h, share := inc.Doing()
	if !same(h, all) {
		t.Errorf("incident %+v: the holders did %+v, by its waits %v", inc.ID, h, all)
	} else if h != nil && share != float64(all[activity{h.Doing.State, h.Doing.Wait, h.Doing.Stack}])/float64(blocked) {
		t.Errorf("incident %+v: the holders did it for %v of %v, by its waits %v", inc.ID, share, blocked, all)
	}
	for id := range by {
		if h := inc.DoingOf(id); !same(h, by[id]) {
			t.Errorf("incident %+v: holder %d did %+v, by its waits %v", inc.ID, id, h, by[id])
		}
	}
}

// waitsOf returns the waits for the root, all of one thread, since only their times count.
func waitsOf(inc *incident.Incident) (waits []part) {
	for i := range inc.Waits {
		if wt := &inc.Waits[i]; inc.Root().ID.Is(wt.Interval.Lock) {
			waits = append(waits, part{1, wt.Start, wt.End})
		}
	}
	return waits
}

// overlap returns how long a part overlaps others, in all.
func overlap(h part, parts []part) (sum time.Duration) {
	for _, p := range parts {
		sum += max(min(h.End, p.End)-max(h.Start, p.Start), 0).Sub(0)
	}
	return sum
}

// holdersOf computes the holders of the root from all waits of an incident and from the holds of the root.
func holdersOf(inc *incident.Incident, holds []part) (list []incident.Holder) {
	waits := waitsOf(inc)
	holders := make(map[jvmthread.ThreadID]incident.Holder)
	for _, h := range holds {
		if blocked := overlap(h, waits); blocked > 0 {
			sum := holders[h.Thread]
			holders[h.Thread] = incident.Holder{Thread: h.Thread, Blocked: sum.Blocked + blocked, Held: sum.Held + overlap(h, union(waits))}
		}
	}
	for _, h := range holders {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b incident.Holder) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(a.Thread, b.Thread))
	})
	return list
}

// union joins parts that overlap.
func union(parts []part) (out []part) {
	parts = slices.SortedFunc(slices.Values(parts), func(a, b part) int { return cmp.Compare(a.Start, b.Start) })
	for _, p := range parts {
		if n := len(out) - 1; n >= 0 && p.Start <= out[n].End {
			out[n].End = max(out[n].End, p.End)
		} else {
			out = append(out, p)
		}
	}
	return out
}
