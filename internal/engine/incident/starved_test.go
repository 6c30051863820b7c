// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// scheduler simulates virtual threads on few carriers, and records who waited for one, and who kept one.
type scheduler struct {
	random  *rand.Rand
	now     jvmthread.Time
	events  []jvmthread.Event
	ready   map[jvmthread.ThreadID]jvmthread.Time // queued, since when
	parked  map[jvmthread.ThreadID]bool
	mounted map[jvmthread.ThreadID]jvmthread.Time // by carrier: since when
	carried map[jvmthread.ThreadID]jvmthread.ThreadID
	queued  []part // each wait for a carrier
	kept    []part // each mount of a thread
	next    jvmthread.ThreadID
}

const (
	starter  jvmthread.ThreadID = 1
	carriers jvmthread.ThreadID = 3 // ids 2 to 4
)

func simulateCarriers(seed uint64, steps int) *scheduler {
	s := &scheduler{
		random: rand.New(rand.NewPCG(seed, 7)), now: 1000, ready: make(map[jvmthread.ThreadID]jvmthread.Time), parked: make(map[jvmthread.ThreadID]bool),
		mounted: make(map[jvmthread.ThreadID]jvmthread.Time), carried: make(map[jvmthread.ThreadID]jvmthread.ThreadID), next: starter + carriers + 1,
	}
	for id := range starter + carriers {
		s.add(jvmthread.Event{Thread: id + 1, Kind: jvmthread.KindThreadStart})
	}
	for range steps {
		s.now += jvmthread.Time(s.random.IntN(int(6 * time.Millisecond)))
		s.step()
	}
	for id, since := range s.ready { // not over when the session ends
		s.queued = append(s.queued, part{id, since, s.now + 1})
	}
	return s
}

func (s *scheduler) add(ev jvmthread.Event) {
	ev.Time = s.now
	s.events = append(s.events, ev)
}

func (s *scheduler) step() {
	carrier := starter + 1 + jvmthread.ThreadID(s.random.IntN(int(carriers)))
	id, busy := s.carried[carrier]
	switch {
	case len(s.ready) < 4 && s.random.IntN(3) == 0:
		s.makeReady()
	case !busy:
		s.mount(carrier)
	case s.random.IntN(3) > 0: // goes on
	case s.random.IntN(4) == 0:
		s.add(jvmthread.Event{Thread: id, Kind: jvmthread.KindYield, Flags: jvmthread.FlagVirtual})
		s.unmount(carrier)
		s.ready[id] = s.now
	case s.random.IntN(2) == 0:
		s.add(jvmthread.Event{Thread: id, Kind: jvmthread.KindPark, Flags: jvmthread.FlagVirtual})
		s.unmount(carrier)
		s.parked[id] = true
	default:
		s.unmount(carrier)
		s.add(jvmthread.Event{Thread: id, Kind: jvmthread.KindThreadEnd, Flags: jvmthread.FlagVirtual})
	}
}

func (s *scheduler) makeReady() {
	ev := jvmthread.Event{Thread: starter, Peer: s.next, Kind: jvmthread.KindStartCalled, Flags: jvmthread.FlagVirtualPeer}
	if ids := slices.Sorted(maps.Keys(s.parked)); len(ids) > 0 && s.random.IntN(2) == 0 {
		ev.Peer, ev.Kind = ids[s.random.IntN(len(ids))], jvmthread.KindUnpark
	} else {
		s.next++
	}
	delete(s.parked, ev.Peer)
	s.ready[ev.Peer] = s.now
	s.add(ev)
}

func (s *scheduler) mount(carrier jvmthread.ThreadID) {
	var id jvmthread.ThreadID
	for other := range s.ready {
		if id == 0 || s.ready[other] < s.ready[id] || s.ready[other] == s.ready[id] && other < id {
			id = other
		}
	}
	if id == 0 {
		return
	}
	if since := s.ready[id]; since < s.now {
		s.queued = append(s.queued, part{id, since, s.now})
	}
	delete(s.ready, id)
	s.carried[carrier], s.mounted[carrier] = id, s.now
	s.add(jvmthread.Event{Thread: id, Peer: carrier, Kind: jvmthread.KindMount, Flags: jvmthread.FlagVirtual})
}

func (s *scheduler) unmount(carrier jvmthread.ThreadID) {
	id := s.carried[carrier]
	s.kept = append(s.kept, part{id, s.mounted[carrier], s.now})
	delete(s.carried, carrier)
	s.add(jvmthread.Event{Thread: id, Peer: carrier, Kind: jvmthread.KindUnmount, Flags: jvmthread.FlagVirtual})
}

// Each nanosecond of a long wait for a carrier belongs to exactly one incident, and holders are the threads that kept a carrier for long. The
// simulation knows both.
func TestEachStarvedNanosecondIsInOneIncident(t *testing.T) {
	t.Parallel()
	const long = jvmthread.Time(10 * time.Millisecond)
	waits, holds, several := 0, 0, 0
	for seed := range uint64(600) {
		sim := simulateCarriers(seed, 50+int(seed%100))
		f := incident.NewFinder(incident.Options{MaxPerWindow: 1 << 20})
		if seed%3 == 0 {
			f.CutAfter(jvmthread.Time(time.Duration(100+seed%300) * time.Millisecond))
		}
		var want, got []part
		var starved, reported time.Duration
		complete := true
		run(nil, sim.events, time.Duration(30+seed%400)*time.Millisecond, func(w *window.Window) {
			for _, q := range sim.queued {
				from, to := max(q.Start, w.Start), min(q.End, w.End)
				if from < to && to-q.Start >= long {
					want = append(want, part{q.Thread, from, to})
					starved += to.Sub(from)
				}
			}
			found := f.Find(w)
			for _, inc := range found.Incidents {
				for _, err := range threadtest.ValidateIncident(inc) {
					t.Errorf("program %d: %v", seed, err)
				}
				if inc.Kind != incident.CarriersStarved || !inc.Lock.IsZero() {
					t.Errorf("program %d: %v for %v", seed, inc.Kind, inc.Lock)
				}
				complete = complete && inc.Count <= incident.MaxWaits
				for i := range inc.Waits {
					got = append(got, part{inc.Waits[i].Interval.Thread, inc.Waits[i].Start, inc.Waits[i].End})
				}
				for i := range inc.Holds {
					checkKept(t, sim, &inc.Holds[i])
				}
				reported += inc.Blocked
				holds += len(inc.Holds)
				if inc.Start < w.Start {
					several++
				}
			}
		})
		if reported != starved {
			t.Errorf("program %d: threads waited %v for carriers, incidents have %v", seed, starved, reported)
		}
		if !complete {
			continue
		}
		want = join(want)
		waits += len(want)
		if diff := gocmp.Diff(want, join(got)); diff != "" {
			t.Fatalf("program %d: waits for carriers - of incidents +:\n%s", seed, diff)
		}
	}
	t.Logf("%d waits, %d holds, %d incidents in several windows", waits, holds, several)
	if waits < 1000 || holds < 1000 || several < 100 {
		t.Error("the programs do not try enough")
	}
}

// checkKept checks that a thread did keep a carrier for all of a hold, and for long.
func checkKept(t *testing.T, sim *scheduler, h *incident.Hold) {
	t.Helper()
	for _, k := range sim.kept {
		if k.Thread == h.Thread && k.Start == h.Since && h.End <= k.End {
			return
		}
	}
	for carrier, id := range sim.carried {
		if id == h.Thread && sim.mounted[carrier] == h.Since {
			return
		}
	}
	t.Errorf("thread %d kept no carrier from %d to %d", h.Thread, h.Since, h.End)
}
