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
)

var (
	seeds = flag.Int("seeds", 2000, "how many seeds to simulate")
	first = flag.Uint64("first", 0, "the first seed")
	only  = flag.Int64("seed", -1, "simulate this seed only, and show what happens")
)

func TestCluster(t *testing.T) {
	if *only >= 0 {
		simulate(t, uint64(*only))
		return
	}
	var next atomic.Uint64
	for range runtime.GOMAXPROCS(0) {
		t.Run("seeds", func(t *testing.T) {
			t.Parallel()
			for {
				n := next.Add(1) - 1
				if n >= uint64(*seeds) {
					return
				}
				simulate(t, *first+n)
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
	synctest.Test(t, func(t *testing.T) {
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
