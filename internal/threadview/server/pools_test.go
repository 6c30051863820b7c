// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// poolFixture serves a service with 100 threads, and returns their names.
func poolFixture(t *testing.T) (f *fixture, names []string) {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	events := threadtest.Service(sym, threadtest.ServiceSize{Threads: 100, Rounds: 40})
	f = virtualFixture(t, sym, events, 200*time.Millisecond, true)
	threads := ask[viewapi.Threads](f, "/threads?limit=500").Threads
	for i := range threads {
		names = append(names, threads[i].Name)
	}
	return f, names
}

// The counts of pools over time equal those counted thread by thread, and their sums those of the table.
func TestPoolsMatchThreads(t *testing.T) {
	f, names := poolFixture(t)
	assert.Contains(t, names, "http-nio-24180-exec-1")
	pools := map[jvmthread.ThreadID]string{}
	threads := ask[viewapi.Threads](f, "/threads?limit=500").Threads
	for i := range threads {
		pools[jvmthread.ThreadID(threads[i].ID)] = threads[i].Pool
	}
	rng := rand.New(rand.NewPCG(1, 2))
	by := grouping{"/pools", "platform", "pool", func(id jvmthread.ThreadID) string { return pools[id] }}
	f.anyRanges(rng, by)

	got := ask[viewapi.Virtual](f, "/pools?width=50")
	at := slices.IndexFunc(got.Groups, func(g viewapi.VirtualGroup) bool { return g.Name == "http-nio-*-exec-*" })
	require.GreaterOrEqual(t, at, 0)
	g := got.Groups[at]
	assert.Positive(t, g.Idle.Time)
	assert.Positive(t, g.Blocked.Time)
	assert.Positive(t, sumOf(g.OverTime[jvmthread.StateRunnable]))
	for step := range got.Steps { // all members live all the time
		var sum int64
		for _, times := range g.OverTime {
			if len(times) > 0 {
				sum += times[step]
			}
		}
		start := got.From + int64(step)*got.Step
		assert.Equal(t, int64(g.Threads)*(min(start+got.Step, got.To)-max(start, threadtest.ServiceBegun)), sum, "step %d", step)
	}
	assert.Len(t, g.OverTime, store.NumShown)
}

// Threads of the JVM are known by their names, and idle ones by what they did in the range.
func TestThreadsOfTheJVMAndIdleOnes(t *testing.T) {
	f, _ := poolFixture(t)
	var ofJVM, idle []string
	threads := ask[viewapi.Threads](f, "/threads?limit=500").Threads
	for i := range threads {
		th := &threads[i]
		if th.JVM {
			ofJVM = append(ofJVM, th.Name)
		}
		if th.OnlyIdle {
			idle = append(idle, th.Name)
			assert.Zero(t, th.Blocked)
			assert.GreaterOrEqual(t, th.Idle.Time, th.Time*99/100)
		}
	}
	assert.ElementsMatch(t, threadtest.ServiceJVM, ofJVM)
	assert.Contains(t, idle, "scheduling-1")
	assert.NotContains(t, idle, "http-nio-24180-exec-1")
}
