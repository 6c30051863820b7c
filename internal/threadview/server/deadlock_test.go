// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/viewapi"
)

// span is a wait, from its start to its end.
type span struct{ from, to jvmthread.Time }

// deadlocks returns rounds of a deadlock of three threads in ReentrantLock.lockInterruptibly. An interrupt ends each, after which the two other
// threads wait on for a while.
func deadlocks(rounds int) (events []jvmthread.Event, truth []span) {
	const ms = jvmthread.Time(time.Millisecond)
	lock := func(hash uint32) jvmthread.LockID { return jvmthread.LockID{Class: 1, Hash: hash} }
	for id := range jvmthread.ThreadID(4) {
		events = append(events, jvmthread.Event{Time: 1, Thread: id + 1, Kind: jvmthread.KindThreadStart})
	}
	for r := range jvmthread.Time(rounds) {
		at := func(t jvmthread.Time) jvmthread.Time { return (10_000*r + t + r*r) * ms }
		events = append(
			events,
			jvmthread.Event{Time: at(10), Thread: 1, Peer: 2, Lock: lock(2), Kind: jvmthread.KindPark},
			jvmthread.Event{Time: at(20), Thread: 2, Peer: 3, Lock: lock(3), Kind: jvmthread.KindPark},
			jvmthread.Event{Time: at(900), Thread: 3, Peer: 1, Lock: lock(1), Kind: jvmthread.KindPark},
			jvmthread.Event{Time: at(2500), Thread: 4, Kind: jvmthread.KindYield},
			jvmthread.Event{Time: at(2999), Thread: 4, Peer: 1, Kind: jvmthread.KindInterruptCalled},
			jvmthread.Event{Time: at(3000), Thread: 1, Kind: jvmthread.KindUnparked},
			jvmthread.Event{Time: at(4000), Thread: 1, Peer: 3, Kind: jvmthread.KindUnpark},
			jvmthread.Event{Time: at(4001), Thread: 3, Kind: jvmthread.KindUnparked},
			jvmthread.Event{Time: at(5000), Thread: 3, Peer: 2, Kind: jvmthread.KindUnpark},
			jvmthread.Event{Time: at(5001), Thread: 2, Kind: jvmthread.KindUnparked},
		)
		truth = append(truth, span{at(10), at(3000)}, span{at(20), at(5001)}, span{at(900), at(4001)})
	}
	return events, truth
}

// A contention that becomes a deadlock is one contention with one length in any range, whether a table is computed from rollups or from single
// intervals, and in the metrics.
func TestDeadlockHasOneLength(t *testing.T) {
	events, truth := deadlocks(6)
	h := history{events: events, length: 700 * time.Millisecond, over: true}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rollup := range []int{1, 5, 20} {
		st := h.store(rollup, math.MaxInt64)
		sn := st.Session(sessionID).Snapshot()
		for _, cfg := range []server.Config{{}, {NoRollups: true}} {
			view := server.New(st, cfg).Handler()
			for i := range 100 {
				from, to := sn.From, sn.To
				if i > 0 {
					from += jvmthread.Time(rng.Int64N(int64(to - from)))
					to = from + 1 + jvmthread.Time(rng.Int64N(int64(to-from)))
				}
				want := viewapi.Stats{Min: math.MaxInt64}
				var sum int64
				for _, w := range truth {
					if w.from >= to || w.to <= from {
						continue
					}
					length := int64(w.to - w.from)
					want.Seen++
					want.Time += int64(min(w.to, to) - max(w.from, from))
					want.Min, want.Max = min(want.Min, length), max(want.Max, length)
					sum += length
					if w.from >= from {
						want.Count++
					}
				}
				var got viewapi.Stats
				for _, row := range classesOf(t, view, int64(from-sn.Origin), int64(to-sn.Origin)) {
					require.Zero(t, got.Seen, "one class")
					got = row.Blocked
				}
				if want.Seen == 0 {
					require.Zero(t, got.Seen)
					continue
				}
				want.Average = sum / want.Seen
				got = viewapi.Stats{Count: got.Count, Time: got.Time, Seen: got.Seen, Min: got.Min, Max: got.Max, Average: got.Average}
				require.Equal(t, want, got, "rollups of %d, %+v, from %d to %d", rollup, cfg, from, to)
			}
		}
	}

	account := contention.New(&contention.Config{
		Buckets: []time.Duration{time.Hour}, StuckAfter: time.Hour, MaxSeries: 10, Expiry: time.Hour, Budget: &contention.Budget{Limit: math.MaxInt32},
	}, symbols.New(symbols.DefaultLimits()), nil, time.Now())
	cfg := engine.DefaultConfig()
	cfg.Window = 700 * time.Millisecond
	e := drive.New(cfg, nil)
	yield := func(w *window.Window) { account.Window(w, e.Timeline()) }
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	account.Close(e.Timeline(), e.Now())
	var sum time.Duration
	for _, w := range truth {
		sum += w.to.Sub(w.from)
	}
	account.Flush(nil, time.Now(), false, func(s *contention.Statement) {
		require.Len(t, s.Blocked, 1)
		waits := s.Blocked[0].Value
		assert.EqualValues(t, len(truth), waits.Count)
		assert.Equal(t, sum, waits.Time)
		var lengths uint64
		var total time.Duration
		for _, d := range waits.Durations {
			if d != nil {
				lengths += d.Count
				total += d.Sum
			}
		}
		assert.EqualValues(t, len(truth), lengths)
		assert.Equal(t, sum, total)
	})
}

func classesOf(t *testing.T, view http.Handler, from, to int64) []viewapi.ClassRow {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/sessions/%s/classes?from=%d&to=%d", sessionID, from, to), http.NoBody)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	view.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	var out viewapi.Classes
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out))
	return out.Classes
}

// A deadlock that a thread has left has an end; one that stands has none, also at the end of the session.
func TestEndsOfDeadlocks(t *testing.T) {
	const rounds = 3
	events, truth := deadlocks(rounds)
	sym := symbols.New(symbols.DefaultLimits())
	sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync")
	for _, length := range []time.Duration{700 * time.Millisecond, 20 * time.Second} { // the deadlock ends in a later window, or in the same
		f := fixtureOf(t, sym, events, length)
		found := ask[viewapi.Session](f, "").Deadlocks
		require.Len(t, found, rounds)
		origin := f.session.Snapshot().Origin
		for i, d := range found {
			assert.EqualValues(t, truth[3*i+2].from-origin, d.Since, "the third thread closes the cycle")
			assert.EqualValues(t, truth[3*i].to-origin, d.Until, "the first thread leaves it")
			require.Len(t, d.Members, 3)
			for m, lock := range []string{"2", "3", "1"} {
				assert.Equal(t, lock, d.Members[m].Lock.Hash)
			}
		}
		standing := events[:len(events)-6] // of the last round until the deadlock is found
		found = ask[viewapi.Session](fixtureOf(t, sym, standing, length), "").Deadlocks
		require.Len(t, found, rounds)
		assert.Positive(t, found[rounds-2].Until)
		assert.Zero(t, found[rounds-1].Until)
	}
}
