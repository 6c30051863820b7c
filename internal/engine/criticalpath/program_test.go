// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// The drag of a lock equals the gain of the program when replayed without the lock, with all other locks granted in the same order.
func TestDragEqualsProgramGain(t *testing.T) {
	t.Parallel()
	g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
	contended, gained := 0, 0
	for seed := range uint64(10_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		threads := program(rng)
		w, order, end := replay(threads, [4][]int{}, -1)
		w.fill(g)
		g.Retime(0, end, r)
		require.Zero(t, r.Broken(), "seed %d", seed)
		drags := map[uint32]jvmthread.Time{}
		for _, s := range r.AppendSavings(nil, 1, criticalpath.ByLock) {
			require.LessOrEqual(t, s.Drag, s.Bound, "seed %d", seed)
			drags[s.Lock.Hash] = s.Drag
			contended++
			if s.Drag > 0 {
				gained++
			}
		}
		for free := range 4 {
			_, _, early := replay(threads, order, free)
			require.Equal(t, end-early, drags[uint32(free+1)], "seed %d: lock %d of %+v\n%+v", seed, free+1, threads, w)
		}
	}
	require.Greater(t, gained, 1000)
	t.Logf("%d locks on chains of causes, %d with drag", contended, gained)
}

// with returns the program with one more step after the given one.
func with(threads [][]step, thread, after int, more step) [][]step {
	threads = slices.Clone(threads)
	threads[thread] = slices.Insert(slices.Clone(threads[thread]), after+1, more)
	return threads
}

// Prolonging a block by its slack does not move the end; one nanosecond more does.
func TestSlackIsExact(t *testing.T) {
	t.Parallel()
	g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
	blocks, slacks := 0, 0
	for seed := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, 12))
		threads := program(rng)
		w, order, end := replay(threads, [4][]int{}, -1)
		w.fill(g)
		g.Retime(0, end, r)
		r.Slacks(1)
		for ref, at := range w.steps {
			slack, ok := r.Slack(ref)
			require.True(t, ok, "the end depends on all blocks")
			_, _, same := replay(with(threads, int(ref.Thread)-1, at, step{kind: stepSleep, time: slack}), order, -1)
			_, _, later := replay(with(threads, int(ref.Thread)-1, at, step{kind: stepSleep, time: slack + 1}), order, -1)
			if same != end || later != end+1 {
				t.Fatalf("seed %d: slack %d of %v: end %d moves to %d and %d", seed, slack, ref, end, same, later)
			}
			blocks++
			if slack > 0 {
				slacks++
			}
		}
	}
	t.Logf("%d blocks, %d with slack", blocks, slacks)
}

// Scaled predicts the gain of a program with shorter critical sections.
func TestScaledEqualsProgramGain(t *testing.T) {
	t.Parallel()
	g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
	gained := 0
	for seed := range uint64(3_000) {
		rng := rand.New(rand.NewPCG(seed, 13))
		threads := program(rng)
		w, order, end := replay(threads, [4][]int{}, -1)
		w.fill(g)
		g.Retime(0, end, r)
		for lock := range 4 {
			_, _, early := replay(without(threads, lock), order, -1)
			have := r.Scaled(1, w.lock(w.locks[lock]), 0)
			require.Equal(t, end-early, have, "seed %d: lock %d", seed, lock)
			require.Zero(t, r.Scaled(1, w.lock(w.locks[lock]), 1000))
			if have > 0 {
				gained++
			}
		}
	}
	t.Logf("%d locks with a gain", gained)
}

// without returns the program with zero running time inside a lock.
func without(threads [][]step, lock int) (shorter [][]step) {
	for _, list := range threads {
		out := slices.Clone(list)
		inside := false
		for i := range out {
			switch s := &out[i]; {
			case s.kind == stepLock && s.arg == lock:
				inside = true
			case s.kind == stepUnlock && s.arg == lock:
				inside = false
			case inside && s.kind == stepRun:
				s.time = 0
			}
		}
		shorter = append(shorter, out)
	}
	return shorter
}
