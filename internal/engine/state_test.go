// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// complete describes a window with its limits, sums, holds and locks.
func complete(w *window.Window) []string {
	out := []string{fmt.Sprintf("%d to %d by %s: %d events, totals %v, waits %v", w.Start, w.End, w.Cut, w.Events, w.Totals, w.Waits)}
	out = append(out, describe(w)...)
	holds := make([]string, len(w.Holds))
	for i, h := range w.Holds {
		holds[i] = fmt.Sprintf("%+v", h)
	}
	slices.Sort(holds)
	out = append(out, holds...)
	for i := range w.Locks {
		out = append(out, fmt.Sprintf("%+v", w.Locks[i]))
	}
	for i := range w.Deadlocks {
		out = append(out, fmt.Sprintf("deadlock %d of %v since %d", w.Deadlocks[i].Cycle, w.Deadlocks[i].Members, w.Deadlocks[i].Since))
	}
	return out
}

// stored returns a state as it comes out of a storage.
func stored(t *testing.T, s *engine.State) *engine.State {
	t.Helper()
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		t.Fatal(err)
	}
	out := new(engine.State)
	if err := gob.NewDecoder(&data).Decode(out); err != nil {
		t.Fatal(err)
	}
	return out
}

// An engine that is killed again and again, and restored each time from the start of its window, makes the same windows as one that runs
// through: intervals with their numbers, interactions, holds, sums and deadlocks.
func TestRestoredEngineMakesTheSameWindows(t *testing.T) {
	t.Parallel()
	kills := 0
	for seed := range uint64(400) {
		events := simulate(seed).Events
		cfg := engine.DefaultConfig()
		cfg.Window = time.Duration(50 + seed*7)
		var want, got []string
		e := engine.New(cfg, nil)
		e.Push(events, lastTime(events), func(w *window.Window) { want = append(want, complete(w)...) })
		e.Finish(nil, lastTime(events), window.CutEnd, func(w *window.Window) { want = append(want, complete(w)...) })

		rng := rand.New(rand.NewPCG(seed, 4))
		var saved *engine.State
		rest := events
		e = engine.New(cfg, nil)
		e.Checkpoints(func(s *engine.State) { saved = stored(t, s) })
		for len(rest) > 0 {
			n := min(len(rest), 1+rng.IntN(15))
			e.Push(rest[:n], rest[n-1].Time, func(w *window.Window) { got = append(got, complete(w)...) })
			rest = rest[n:]
			if saved == nil || rng.IntN(3) > 0 {
				continue
			}
			kills++
			e = engine.New(cfg, nil)
			e.Checkpoints(func(s *engine.State) { saved = stored(t, s) })
			e.Restore(stored(t, saved))
			at := len(events) - len(rest) // events of the open window come from a journal
			from := sort.Search(at, func(i int) bool { return events[i].Time >= saved.Start })
			e.Push(events[from:at], events[at-1].Time, func(w *window.Window) { t.Fatalf("window %d to %d was cut before", w.Start, w.End) })
		}
		e.Finish(nil, lastTime(events), window.CutEnd, func(w *window.Window) { got = append(got, complete(w)...) })
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("program %d: one life - many lives +:\n%s", seed, diff)
		}
	}
	if kills < 1000 {
		t.Errorf("only %d kills", kills)
	}
}

// All classes and stacks of a state can be replaced, since another life numbers them differently.
func TestSymbolsOfAStateAreReplaced(t *testing.T) {
	t.Parallel()
	var saved *engine.State
	e := engine.New(engine.DefaultConfig(), nil)
	e.Checkpoints(func(s *engine.State) { saved = s })
	lock := jvmthread.LockID{Class: 3, Hash: 9}
	at := jvmthread.Time(11 * time.Second)
	e.Push([]jvmthread.Event{
		{Kind: jvmthread.KindThreadStart, Thread: 1, Time: 1},
		{Kind: jvmthread.KindWait, Thread: 1, Time: 2, Lock: lock, Stack: 5},
		{Kind: jvmthread.KindNotify, Thread: 2, Time: 3, Lock: lock, Stack: 6},
		{Kind: jvmthread.KindContendedEnter, Thread: 3, Time: 4, Lock: lock, Stack: 7, Peer: 2},
		{Kind: jvmthread.KindOwnerStack, Thread: 3, Time: 4, Lock: lock, Stack: 8, Peer: 2},
		{Kind: jvmthread.KindUnpark, Thread: 2, Time: 5, Peer: 1, Stack: 9},
		{Kind: jvmthread.KindYield, Thread: 2, Time: at},
	}, at, func(*window.Window) {})
	classes, stacks := map[jvmthread.ClassID]int{}, map[jvmthread.StackID]int{}
	see := func() {
		clear(classes)
		clear(stacks)
		saved.Symbols(func(id *jvmthread.ClassID) { classes[*id]++ }, func(id *jvmthread.StackID) { stacks[*id]++ })
	}
	see()
	for id := jvmthread.StackID(5); id <= 9; id++ {
		if stacks[id] == 0 {
			t.Errorf("stack %d is not among %v", id, stacks)
		}
	}
	saved.Symbols(func(id *jvmthread.ClassID) { *id += 100 }, func(id *jvmthread.StackID) { *id += 100 })
	if see(); classes[103] == 0 || classes[3] != 0 || stacks[5]+stacks[9] != 0 || stacks[109] == 0 {
		t.Errorf("classes %v, stacks %v", classes, stacks)
	}
}
