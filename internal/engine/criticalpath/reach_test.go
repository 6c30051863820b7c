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

// What is reached is what the paths of the same threads lead through, and no more pieces are looked at.
func TestReachMarksWhatPathsLeadThrough(t *testing.T) {
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
	g, p, some := criticalpath.New(criticalpath.Limits{MaxDepth: 4}), new(criticalpath.Path), 0
	for seed := range uint64(20_000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		w := random(rng)
		lo, hi := window(rng)
		asked := rng.Perm(len(w.lanes) + 1)[:1+rng.IntN(len(w.lanes))]

		w.fill(g)
		pieces := 0
		for _, id := range asked {
			g.Bounded(jvmthread.ThreadID(id+1), lo, hi, p)
			pieces += p.Visited
		}
		want := idle(g, w)
		w.fill(g)
		var threads []jvmthread.ThreadID
		for _, id := range asked {
			threads = append(threads, jvmthread.ThreadID(id+1))
		}
		visited, ok := g.Reach(threads, lo, hi, math.MaxInt)
		if pieces -= visited; !ok {
			t.Fatalf("seed %d: gave up", seed)
		}
		if got := idle(g, w); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v are idle, the paths of %v leave %v", seed, got, asked, want)
		}
		if pieces < 0 {
			t.Fatalf("seed %d: %d pieces more were looked at", seed, -pieces)
		}
		some += pieces
		w.fill(g)
		if _, ok := g.Reach(threads, lo, hi, visited-1); ok && visited > 0 {
			t.Fatalf("seed %d: did not give up", seed)
		}
	}
	if some == 0 {
		t.Error("nothing was spared")
	}
}
