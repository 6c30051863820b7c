// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

var sessionID = jvmthread.SessionID{0: 1, 15: 1}

// run cuts a history into windows and passes each to yield.
func run(events []jvmthread.Event, length time.Duration, yield engine.Yield) {
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e := drive.New(cfg, nil)
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
}

func newSymbols() *symbols.Table {
	sym := symbols.New(symbols.DefaultLimits())
	for _, c := range []string{"a.A", "b.B", "c.C"} {
		sym.InternClass(c)
	}
	return sym
}

// stored stores a history in windows of equal length.
func stored(st *store.Store, events []jvmthread.Event, length time.Duration) *store.Snapshot {
	sym := newSymbols()
	s := st.Open(sessionID, store.Meta{"service.name": "test"})
	run(events, length, func(w *window.Window) { s.Append(w, sym) })
	s.Close(window.CutEnd)
	return s.Snapshot()
}

type sums map[jvmthread.ThreadID][jvmthread.NumStates]viewTime

type viewTime struct {
	count int
	time  jvmthread.Time
}

// intervalSums sums the parts of a window's intervals that lie in a range.
func intervalSums(w *window.Window, from, to jvmthread.Time) sums {
	out := make(sums)
	for _, l := range w.Lanes {
		t := out[l.Thread]
		for _, iv := range l.Intervals.All() {
			if iv.Start >= to || iv.End <= from && iv.Start < from {
				continue
			}
			if iv.Start >= from {
				t[iv.State].count++
			}
			t[iv.State].time += max(0, min(iv.End, to)-max(iv.Start, from))
		}
		out[l.Thread] = t
	}
	return out
}

func snapshotSums(sn *store.Snapshot, from, to jvmthread.Time) sums {
	out := make(sums)
	for i := range sn.Threads {
		if !sn.Threads[i].Known {
			continue
		}
		var t [jvmthread.NumStates]viewTime
		c := sn.Walk(i, from, to)
		for c.Next() {
			if c.Start >= from {
				t[c.State].count++
			}
			t[c.State].time += max(0, min(c.End, to)-max(c.Start, from))
		}
		out[sn.Threads[i].ID] = t
	}
	return out
}

// However a history is cut into windows, the store's sums over any range equal those of its intervals to the nanosecond.
func TestSumsAreExact(t *testing.T) {
	for seed := range uint64(60) {
		sim := threadtest.Simulate(seed, 3+int(seed%9), 1+int(seed%4), 600)
		run(sim.Events, time.Hour, func(whole *window.Window) {
			for _, length := range []time.Duration{50, 333, 5000, time.Hour} {
				sn := stored(store.New(math.MaxInt64, nil), sim.Events, length)
				span := whole.End - whole.Start
				for _, r := range [][2]jvmthread.Time{
					{whole.Start, whole.End}, {whole.Start + span/3, whole.Start + span/2}, {whole.Start + 100, whole.Start + 100 + length2(length)},
				} {
					want, got := intervalSums(whole, r[0], r[1]), snapshotSums(sn, r[0], r[1])
					for id, sum := range want {
						assert.Equal(t, sum, got[id], "program %d, windows of %d, thread %d in %v", seed, length, id, r)
					}
				}
				// An interaction that is bound after the window of its effect was cut is dropped.
				assert.LessOrEqual(t, sn.Counts.Interactions, whole.CountInteractions())
				assert.GreaterOrEqual(t, sn.Counts.Interactions*20, whole.CountInteractions()*19)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func length2(d time.Duration) jvmthread.Time { return jvmthread.Time(min(d, 5000)) }

// The intervals of a cursor tile a thread's lifetime and have the engine's sequence numbers.
func TestIntervalsTileThreadLifetimes(t *testing.T) {
	sim := threadtest.Simulate(11, 9, 3, 3000)
	sn := stored(store.New(math.MaxInt64, nil), sim.Events, 700)
	n := 0
	for i := range sn.Threads {
		c := sn.Walk(i, math.MinInt64, math.MaxInt64)
		var before store.Interval
		for c.Next() {
			iv := c.Interval()
			if before.Seq != 0 {
				require.Equal(t, before.End, iv.Start)
				require.Equal(t, before.Seq+1, iv.Seq)
				got, ok := sn.Before(&iv)
				require.True(t, ok)
				require.Equal(t, before, got)
				got, ok = sn.After(&before)
				require.True(t, ok)
				require.Equal(t, iv, got)
			}
			got, ok := sn.Numbered(i, iv.Seq, iv.End)
			require.True(t, ok)
			require.Equal(t, iv, got)
			got, ok = sn.Latest(i, iv.Seq)
			require.True(t, ok)
			require.Equal(t, iv, got)
			if iv.End > iv.Start {
				got, ok = sn.At(i, iv.Start)
				require.True(t, ok)
				require.Equal(t, iv, got)
			}
			before = iv
			n++
		}
	}
	assert.Equal(t, sn.Counts.Intervals, n)
	assert.Positive(t, n)
}

// A lock has one owner at a time, and each hold appears once, however many windows it spans.
func TestHoldsDoNotOverlap(t *testing.T) {
	for seed := range uint64(40) {
		sim := threadtest.Simulate(seed, 8, 3, 800)
		for _, length := range []time.Duration{100, 400, 3000, time.Hour} {
			sn := stored(store.New(math.MaxInt64, nil), sim.Events, length)
			byLock := map[store.LockIndex][]store.Hold{}
			sn.Holds(math.MinInt64, math.MaxInt64, func(h store.Hold) bool {
				byLock[h.Lock] = append(byLock[h.Lock], h)
				return true
			})
			require.NotEmpty(t, byLock)
			for _, list := range byLock {
				slices.SortFunc(list, func(a, b store.Hold) int { return cmp.Compare(a.Start, b.Start) })
				for i := 1; i < len(list); i++ {
					assert.LessOrEqual(t, list[i-1].End, list[i].Start, "program %d, windows of %d: %v %v", seed, length, list[i-1], list[i])
				}
			}
		}
	}
}

// When the store exceeds its limit, the oldest windows are evicted; byte accounting stays exact and the remaining windows are complete.
func TestOldestWindowsAreEvicted(t *testing.T) {
	const limit = 40_000
	st := store.New(limit, nil)
	sim := threadtest.Simulate(5, 12, 3, 20_000)
	sn := stored(st, sim.Events, 2000)
	assert.LessOrEqual(t, st.Stats().Bytes, int64(limit))
	assert.Positive(t, sn.Evicted)
	assert.Greater(t, sn.From, sn.Origin)
	assert.Equal(t, st.Stats().Bytes, sn.Bytes)

	run(sim.Events, time.Hour, func(whole *window.Window) {
		want, got := intervalSums(whole, sn.From, sn.To), snapshotSums(sn, sn.From, sn.To)
		for id, sum := range got {
			assert.Equal(t, want[id], sum, "thread %d", id)
		}
	})
}

// A lost session that reconnects continues; intervals that the first engine left open end at the loss.
func TestSessionReconnects(t *testing.T) {
	st := store.New(math.MaxInt64, nil)
	first := threadtest.Simulate(1, 6, 2, 300)
	second := threadtest.Simulate(2, 6, 2, 300)
	shift := first.Events[len(first.Events)-1].Time + 1_000_000
	for i := range second.Events {
		second.Events[i].Time += shift
	}
	a := stored(st, first.Events, 500)
	b := stored(st, second.Events, 500)
	assert.Equal(t, a.Origin, b.Origin)
	assert.Equal(t, snapshotSums(a, a.From, a.To), limited(snapshotSums(b, a.From, a.To), a))
	assert.Equal(t, 1, st.Stats().Sessions)
	assert.Equal(t, a.Counts.Intervals, countBefore(b, a.To))
}

func limited(s sums, to *store.Snapshot) sums {
	for id := range s {
		if to.Thread(id) == 0 {
			delete(s, id)
		}
	}
	return s
}

func countBefore(sn *store.Snapshot, to jvmthread.Time) (n int) {
	for i := range sn.Threads {
		c := sn.Walk(i, math.MinInt64, to)
		for c.Next() {
			n++
		}
	}
	return n
}

// The density of any range equals the sum over its intervals.
func TestDensityIsExact(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		sim := threadtest.Simulate(seed, 3+int(seed%9), 1+int(seed%4), 600)
		sn := stored(store.New(math.MaxInt64, nil), sim.Events, time.Duration(50+rng.IntN(5000)))
		for range 10 {
			from := sn.From - 100 + jvmthread.Time(rng.Int64N(int64(sn.To-sn.From)))
			to := from + 1 + jvmthread.Time(rng.Int64N(int64(sn.To-sn.From)))
			step := 1 + jvmthread.Time(rng.Int64N(int64(to-from)))
			has := make([]bool, len(sn.Threads))
			want := make([][]int64, store.NumShown)
			for s := range want {
				want[s] = []int64{}
			}
			for i := range sn.Threads {
				if has[i] = sn.Threads[i].Known && rng.IntN(4) > 0; !has[i] {
					continue
				}
				for c := sn.Walk(i, from, to); c.Next(); {
					for at := max(c.Start, from); at < min(c.End, to); {
						if len(want[c.Shown()]) == 0 {
							want[c.Shown()] = make([]int64, (to-from+step-1)/step)
						}
						k := (at - from) / step
						end := min(c.End, to, from+(k+1)*step)
						want[c.Shown()][k] += int64(end - at)
						at = end
					}
				}
			}
			assert.Equal(t, want, sn.Density(from, to, step, has), "program %d", seed)
		}
	}
}

// A sweep visits the same intervals as the walks of all threads.
func TestSweepMatchesWalks(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		sim := threadtest.Simulate(seed, 3+int(seed%9), 1+int(seed%4), 600)
		sym := newSymbols()
		st := store.New(math.MaxInt64, nil)
		s := st.Open(sessionID, store.Meta{})
		run(sim.Events, time.Duration(50+rng.IntN(5000)), func(w *window.Window) {
			if w.Cut != window.CutEnd || seed%2 == 0 { // or the session stays open
				s.Append(w, sym)
			}
		})
		sn := s.Snapshot()
		for range 10 {
			from := sn.From - 100 + jvmthread.Time(rng.Int64N(int64(max(1, sn.To-sn.From))))
			to := from + 1 + jvmthread.Time(rng.Int64N(int64(max(1, sn.To-sn.From))))
			has := make([]bool, len(sn.Threads))
			var want, got []store.Interval
			for i := range sn.Threads {
				if has[i] = sn.Threads[i].Known && rng.IntN(4) > 0; !has[i] {
					continue
				}
				for c := sn.Walk(i, from, to); c.Next(); {
					want = append(want, c.Interval())
				}
			}
			sn.Sweep(from, to, has, func(c *store.Cursor) {
				iv := c.Interval()
				assert.Equal(t, []any{c.Start, c.End, c.State, c.Marks, c.Thread(), c.Lock(), c.Stack()},
					[]any{iv.Start, iv.End, iv.State, iv.Marks, iv.Thread, iv.Lock, iv.Stack})
				got = append(got, iv)
			})
			assert.ElementsMatch(t, want, got, "program %d", seed)
		}
	}
}
