// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster answers: does anything get lost, come twice, or stay when collectors die, links break, and sessions move? It simulates
// agents, an edge, gateways, their disks and a backend in a bubble of testing/synctest, with the real components of the collectors.
package cluster

import (
	"flag"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/weft-otel/weft/internal/threadtest"
)

var (
	seeds = flag.Int("seeds", 10_000, "how many seeds to simulate; a tenth of them with the race detector")
	first = flag.Uint64("first", 0, "the first seed")
	only  = flag.Int64("seed", -1, "simulate this seed only, up to 20 times until it fails, and show what happens")
)

// TestCluster simulates seeds. A seed that fails prints how to repeat it, and its faults.
func TestCluster(t *testing.T) {
	if *only >= 0 {
		for n := 0; n < 20 && !t.Failed(); n++ { // the order of goroutines differs in one of fifty runs
			simulate(t, uint64(*only))
		}
		return
	}
	last := *first + uint64(*seeds)
	if threadtest.Race {
		last = *first + uint64(*seeds)/10
	}
	var next atomic.Uint64
	next.Store(*first)
	for range runtime.GOMAXPROCS(0) {
		t.Run("seeds", func(t *testing.T) {
			t.Parallel()
			for seed := next.Add(1) - 1; seed < last; seed = next.Add(1) - 1 {
				simulate(t, seed)
			}
		})
	}
}

// TestMain makes the stack of a panic name the seed.
func TestMain(m *testing.M) {
	_ = os.Setenv("GODEBUG", "tracebacklabels=1") // fails for invalid names only
	os.Exit(m.Run())
}

func simulate(t *testing.T, seed uint64) {
	t.Helper()
	defer pprof.SetGoroutineLabels(t.Context())
	pprof.SetGoroutineLabels(pprof.WithLabels(t.Context(), pprof.Labels("seed", strconv.FormatUint(seed, 10))))
	var w *world
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed)
		w.run()
		w.check()
	})
	if notes := strings.Join(w.notes, "\n"); len(w.failed) > 0 {
		t.Errorf("go test ./internal/threadtest/cluster -run TestCluster -seed=%d -v\n%s\n%s", seed, notes, strings.Join(w.failed, "\n"))
	} else if *only >= 0 {
		t.Log("\n" + notes)
	}
}
