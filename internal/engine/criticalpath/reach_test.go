// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Reach marks the same waits as the paths of the same threads, and visits no more pieces.
func TestReachMatchesPaths(t *testing.T) {
	t.Parallel()
	idle := func(g *criticalpath.Graph, w *world) (out []jvmthread.IntervalRef) {
		for _, list := range w.lanes {
			for _, iv := range list {
				if ref := (jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}); g.Idle(ref) {
					out = append(out, ref)
				}
			}
		}
		return out
	}
	g, p, saved := criticalpath.New(criticalpath.Limits{MaxDepth: 4}), new(criticalpath.Path), 0
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		w := random(rng)
		lo, hi := window(rng)
		selected := rng.Perm(len(w.lanes) + 1)[:1+rng.IntN(len(w.lanes))]

		w.fill(g)
		pieces := 0
		for _, id := range selected {
			g.Bounded(jvmthread.ThreadID(id+1), lo, hi, p)
			pieces += p.Visited
		}
		want := idle(g, w)
		w.fill(g)
		var threads []jvmthread.ThreadID
		for _, id := range selected {
			threads = append(threads, jvmthread.ThreadID(id+1))
		}
		visited, ok := g.Reach(threads, lo, hi, math.MaxInt)
		if pieces -= visited; !ok {
			t.Fatalf("seed %d: gave up", seed)
		}
		if got := idle(g, w); !slices.Equal(got, want) {
			t.Fatalf("seed %d, threads %v: idle waits %v, want %v", seed, selected, got, want)
		}
		if pieces < 0 {
			t.Fatalf("seed %d: Reach visited %d more pieces than the paths", seed, -pieces)
		}
		saved += pieces
		w.fill(g)
		if _, ok := g.Reach(threads, lo, hi, visited-1); ok && visited > 0 {
			t.Fatalf("seed %d: did not give up", seed)
		}
	}
	if saved == 0 {
		t.Error("Reach never visited fewer pieces than the paths")
	}
}
