// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// history is a simulated program to store.
type history struct {
	events []jvmthread.Event
	length time.Duration
	again  bool // the session is lost and reconnects
	over   bool // the session ends
}

func (h *history) store(rollup int, maxBytes int64) *store.Store {
	sym := symbols.New(symbols.DefaultLimits())
	for i := 1; i <= threadClass; i++ {
		sym.InternClass(fmt.Sprintf("com.acme.Class%d", i))
	}
	st := store.New(maxBytes, nil)
	st.Rollups(rollup)
	parts := [][]jvmthread.Event{h.events}
	if h.again {
		parts = [][]jvmthread.Event{h.events[:len(h.events)/3], h.events[len(h.events)/3:]}
	}
	for i, events := range parts {
		s := st.Open(sessionID, store.Meta{})
		run(dress(events, sym), h.length, func(w *window.Window) {
			if !h.over && i == len(parts)-1 && w.Cut == window.CutEnd {
				return // the session stays open
			}
			s.Append(w, sym)
		})
		if h.over || i < len(parts)-1 {
			s.Close(window.CutLost)
		}
	}
	return st
}

// tablesOfSums are the tables computed from rollups.
var tablesOfSums = []string{
	"threads?", "threads?threads=1,3-5", "classes?", "callers?kind=blocked", "callers?kind=waited", "callers?kind=parked", "callers?kind=reenter",
	"callers?kind=sleeping", "callers?kind=blocked&class=com.acme.Class1", "locks?", "locks?class=com.acme.Class2", "locklanes?width=300", "lanes?sort=blocked.time",
}

// compareWithPlain queries all tables over random ranges, with and without rollups. It returns the number of rollups used.
func compareWithPlain(t *testing.T, st *store.Store, rng *rand.Rand, ranges int) int {
	t.Helper()
	sn := st.Session(sessionID).Snapshot()
	plain := server.New(st, server.Config{NoRollups: true}).Handler()
	summed := server.New(st, server.Config{}).Handler()
	cover := sn.Cover(sn.From, sn.To+1, func(c *store.Rollup) bool { return c.Waits != nil && c.Locks != nil })
	for range ranges {
		from := int64(sn.From-sn.Origin) + rng.Int64N(int64(sn.To-sn.From))/4
		to := int64(sn.To-sn.Origin) - rng.Int64N(int64(sn.To-sn.From))/4
		switch n := len(cover.Rollups); {
		case rng.IntN(4) == 0:
			from, to = int64(sn.From-sn.Origin), int64(sn.To-sn.Origin)
		case n > 0 && rng.IntN(2) == 0: // exactly at the start of a rollup
			from = int64(cover.Rollups[rng.IntN(n)].Start - sn.Origin)
		}
		to = max(to, from)
		for _, table := range tablesOfSums {
			ask := func(h http.Handler) string {
				r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/sessions/%s/%s&from=%d&to=%d", sessionID, table, from, to), http.NoBody)
				r.Host = "localhost"
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				require.Equal(t, http.StatusOK, w.Code, "%s: %s", table, w.Body)
				return w.Body.String()
			}
			if want, got := ask(plain), ask(summed); want != got {
				require.JSONEq(t, want, got, "%s from %d to %d", table, from, to)
			}
		}
	}
	return len(cover.Rollups)
}

// For any range, tables computed from rollups equal those computed from single intervals.
func TestRollupsMatchIntervals(t *testing.T) {
	const never = 1 << 40
	used := 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		h := history{
			events: threadtest.Simulate(seed, 4+2*int(seed%5), 1+int(seed%3), 30_000).Events, length: time.Duration(200 + rng.IntN(2000)), again: seed%3 == 1, over: seed%4 != 2,
		}
		maxBytes := int64(math.MaxInt64)
		if seed%2 == 1 { // the oldest windows are evicted together with their rollups
			maxBytes = h.store(never, math.MaxInt64).Stats().Bytes * 2 / 3
		}
		used += compareWithPlain(t, h.store(1+rng.IntN(200), maxBytes), rng, 12)
	}
	assert.Greater(t, used, 50, "rollups used")
}

// Most threads are queued, and locks are held, at the end of each rollup.
func TestRollupsWithLongQueues(t *testing.T) {
	for seed, threads := range []int{8, 20, 50} {
		st := store.New(math.MaxInt64, nil)
		st.Rollups(1)
		crowd(st, threads, 1+uint32(seed)*2, 30_000)
		assert.GreaterOrEqual(t, compareWithPlain(t, st, rand.New(rand.NewPCG(uint64(seed), 4)), 4), 3)
	}
}

// A thread that never leaves a queue counts in every rollup, even if none of its intervals lies in it.
func TestPermanentlyQueuedThreadIsCounted(t *testing.T) {
	lock := func(hash uint32) jvmthread.LockID { return jvmthread.LockID{Class: 1, Hash: hash} }
	var events []jvmthread.Event
	for id := range jvmthread.ThreadID(6) {
		events = append(events, jvmthread.Event{Time: 1000, Thread: id + 1, Kind: jvmthread.KindThreadStart})
	}
	for id := jvmthread.ThreadID(2); id <= 5; id++ {
		events = append(events, jvmthread.Event{Time: 1001, Thread: id, Peer: 1, Lock: lock(1), Kind: jvmthread.KindContendedEnter})
	}
	for at := jvmthread.Time(1010); at < 21_000; at += 10 {
		events = append(events, jvmthread.Event{Time: at, Thread: 6, Peer: 1, Lock: lock(2), Kind: jvmthread.KindContendedEnter},
			jvmthread.Event{Time: at + 5, Thread: 6, Lock: lock(2), Kind: jvmthread.KindContendedEntered})
	}
	h := history{events: events, length: 2000}
	st := h.store(1, math.MaxInt64)
	sn := st.Session(sessionID).Snapshot()
	cover := sn.Cover(sn.From, sn.To+1, func(c *store.Rollup) bool { return c.Locks != nil })
	require.Equal(t, sn.To, cover.Rollups[len(cover.Rollups)-1].End)
	for _, c := range cover.Rollups[1:] {
		for _, l := range c.Locks {
			if sn.Locks[l.Lock].Hash == 1 {
				assert.EqualValues(t, 4, l.Queue)
			}
		}
		assert.Len(t, c.Locks, 2)
	}
	compareWithPlain(t, st, rand.New(rand.NewPCG(1, 5)), 10)
}
