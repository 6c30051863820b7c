// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The page's tables equal the connector's metrics to the nanosecond, even if the two cut different windows. Open waits count, too.
func TestTablesMatchConnectorMetrics(t *testing.T) {
	type key struct {
		class string
		kind  string
	}
	for seed := range uint64(12) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		account := contention.New(&contention.Config{
			Buckets: []time.Duration{10, 100, 1000}, StuckAfter: time.Hour, MaxSeries: 10_000, Expiry: time.Hour, Budget: &contention.Budget{Limit: math.MaxInt32},
		}, f.symbols, nil, time.Now())
		cfg := engine.DefaultConfig()
		cfg.Window = time.Duration(2000 + 100*seed)
		e := drive.New(cfg, f.symbols)
		yield := func(w *window.Window) { account.Window(w, e.Timeline()) }
		e.Batch(f.events, 0, f.events[len(f.events)-1].Time+1, yield)
		e.Close(jvmthread.NoTime, window.CutEnd, yield)
		account.Close(e.Timeline(), e.Now())

		want := map[key]viewapi.StateTime{}
		var states [jvmthread.NumStates]int64
		account.Flush(nil, time.Now(), false, func(s *contention.Statement) {
			words := map[jvmthread.Wait]string{
				jvmthread.WaitLock: "blocked", jvmthread.WaitObject: "waited", jvmthread.WaitReenter: "reenter",
				jvmthread.WaitJoin: "joined", jvmthread.WaitPark: "parked",
			}
			for _, list := range [][]*contention.Series[contention.WaitKey, contention.Waits]{s.Blocked, s.Waits} {
				for _, w := range list {
					k := key{f.symbols.Class(w.Key.Class), words[w.Key.Kind]}
					sum := want[k]
					sum.Count += int64(w.Value.Count)
					sum.Time += int64(w.Value.Time)
					want[k] = sum
				}
			}
			for _, p := range s.States {
				for state, d := range p.Value {
					states[state] += int64(d)
				}
			}
		})
		require.NotEmpty(t, want)
		got := map[key]viewapi.StateTime{}
		for _, row := range ask[viewapi.Classes](f, "/classes").Classes {
			for kind, s := range map[string]viewapi.Stats{"blocked": row.Blocked, "waited": row.Waited, "reenter": row.Reenter, "joined": row.Joined, "parked": row.Parked} {
				if s.Seen > 0 {
					got[key{row.Class, kind}] = viewapi.StateTime{Count: s.Count, Time: s.Time}
				}
			}
		}
		for k, sum := range got {
			assert.Equal(t, want[k], sum, "program %d, %v", seed, k)
		}
		threads := ask[viewapi.Threads](f, "/threads")
		for s := range jvmthread.NumStates {
			assert.Equal(t, states[s], threads.Sum.States[s].Time, "program %d, %v", seed, jvmthread.State(s))
		}
	}
}

// Entering a deadlock counts as one contention on the page, in the metrics and in window sums; its time keeps growing in all of them.
func TestDeadlockCountsAsOneContention(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	class := sym.InternClass("com.acme.Account")
	lock := func(hash uint32) jvmthread.LockID { return jvmthread.LockID{Class: class, Hash: hash} }
	const grace = deadlock.Grace
	events := []jvmthread.Event{
		{Time: 100, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 3, Kind: jvmthread.KindThreadStart},
		{Time: 200, Thread: 1, Peer: 2, Lock: lock(2), Kind: jvmthread.KindContendedEnter},
		{Time: 300, Thread: 2, Peer: 1, Lock: lock(1), Kind: jvmthread.KindContendedEnter},
		{Time: 400 + 2*grace, Thread: 3, Kind: jvmthread.KindYield},
		{Time: 500 + 3*grace, Thread: 3, Kind: jvmthread.KindYield},
	}
	const length = 700 * time.Millisecond
	var windows viewapi.StateTime
	deadlocks := 0
	account := contention.New(&contention.Config{
		StuckAfter: time.Hour, MaxSize: 20, MaxSeries: 10, Expiry: time.Hour, Budget: &contention.Budget{Limit: math.MaxInt32},
	}, sym, nil, time.Now())
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e := drive.New(cfg, nil)
	yield := func(w *window.Window) {
		account.Window(w, e.Timeline())
		deadlocks += len(w.Deadlocks)
		for i := range w.Locks {
			windows.Count += int64(w.Locks[i].Contentions)
			windows.Time += int64(w.Locks[i].Blocked)
		}
	}
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	account.Close(e.Timeline(), e.Now())
	require.Equal(t, 1, deadlocks)

	want := viewapi.StateTime{Count: 2, Time: int64(2*e.Now() - 200 - 300)}
	assert.Equal(t, want, windows)
	account.Flush(nil, time.Now(), false, func(s *contention.Statement) {
		require.Len(t, s.Blocked, 1)
		sum := s.Blocked[0].Value
		assert.Equal(t, want, viewapi.StateTime{Count: int64(sum.Count), Time: int64(sum.Time)})
	})

	f := fixtureOf(t, sym, events, length)
	classes := ask[viewapi.Classes](f, "/classes").Classes
	require.Len(t, classes, 1)
	assert.Equal(t, want, viewapi.StateTime{Count: classes[0].Blocked.Count, Time: classes[0].Blocked.Time})
	threads := ask[viewapi.Threads](f, "/threads").Sum
	assert.Equal(t, want, threads.Blocked)
	assert.EqualValues(t, 2, threads.States[jvmthread.StateDeadlocked].Count, "intervals in which threads were deadlocked")
	var locks viewapi.StateTime
	for _, row := range ask[viewapi.Locks](f, "/locks").Locks {
		locks.Count += row.Blocked.Count
		locks.Time += row.Blocked.Time
	}
	assert.Equal(t, want, locks)
}

// Threads deadlocked on locks of java.util.concurrent count as blocked, in the metrics and in all tables of the page.
func TestDeadlockedParksCountAsBlocked(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	class := sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync")
	lock := func(hash uint32) jvmthread.LockID { return jvmthread.LockID{Class: class, Hash: hash} }
	const grace = deadlock.Grace
	events := []jvmthread.Event{
		{Time: 100, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 100, Thread: 3, Kind: jvmthread.KindThreadStart},
		{Time: 200, Thread: 1, Peer: 2, Lock: lock(2), Kind: jvmthread.KindPark},
		{Time: 300, Thread: 2, Peer: 1, Lock: lock(1), Kind: jvmthread.KindPark},
		{Time: 400 + 2*grace, Thread: 3, Kind: jvmthread.KindYield},
		{Time: 500 + 3*grace, Thread: 3, Kind: jvmthread.KindYield},
	}
	account := contention.New(&contention.Config{
		StuckAfter: time.Hour, MaxSize: 20, MaxSeries: 10, Expiry: time.Hour, Budget: &contention.Budget{Limit: math.MaxInt32},
	}, sym, nil, time.Now())
	cfg := engine.DefaultConfig()
	cfg.Window = 700 * time.Millisecond
	e := drive.New(cfg, nil)
	deadlocks := 0
	yield := func(w *window.Window) {
		account.Window(w, e.Timeline())
		deadlocks += len(w.Deadlocks)
	}
	e.Batch(events, 0, events[len(events)-1].Time+1, yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	account.Close(e.Timeline(), e.Now())
	require.Equal(t, 1, deadlocks)
	want := viewapi.StateTime{Count: 2, Time: int64(2*e.Now() - 200 - 300)}
	account.Flush(nil, time.Now(), false, func(s *contention.Statement) {
		require.Len(t, s.Blocked, 1)
		sum := s.Blocked[0]
		assert.Equal(t, jvmthread.WaitLock, sum.Key.Kind)
		assert.Equal(t, want, viewapi.StateTime{Count: int64(sum.Value.Count), Time: int64(sum.Value.Time)})
	})

	f := fixtureOf(t, sym, events, 700*time.Millisecond)
	classes := ask[viewapi.Classes](f, "/classes").Classes
	require.Len(t, classes, 1)
	assert.Equal(t, want, viewapi.StateTime{Count: classes[0].Blocked.Count, Time: classes[0].Blocked.Time})
	assert.Zero(t, classes[0].Parked.Time)
	threads := ask[viewapi.Threads](f, "/threads").Sum
	assert.Equal(t, want, threads.Blocked)
	assert.Positive(t, threads.States[jvmthread.StateDeadlocked].Time)
	var locks viewapi.StateTime
	for _, row := range ask[viewapi.Locks](f, "/locks").Locks {
		assert.Zero(t, row.Parked)
		locks.Count += row.Blocked.Count
		locks.Time += row.Blocked.Time
	}
	assert.Equal(t, want, locks)
	sum := ask[viewapi.Callers](f, "/callers?kind=blocked").Sum.Stats
	assert.Equal(t, want, viewapi.StateTime{Count: sum.Count, Time: sum.Time})
}
