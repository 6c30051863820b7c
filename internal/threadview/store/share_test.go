// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
)

const second = jvmthread.Time(1e9)

// windowOf returns the window of a second in which some threads have intervals of equal length.
func windowOf(number, threads, intervals int) *window.Window {
	w := &window.Window{Start: jvmthread.Time(number) * second, End: jvmthread.Time(number+1) * second, Cut: window.CutTime}
	step := second / jvmthread.Time(intervals)
	for th := range threads {
		lane := &window.Lane{Thread: jvmthread.ThreadID(th + 1)}
		for i := range intervals {
			at := w.Start + jvmthread.Time(i)*step
			lane.Intervals.Append(&jvmthread.Interval{
				Thread: lane.Thread, Seq: jvmthread.Seq(number*intervals + i + 1), State: jvmthread.StateRunnable + jvmthread.State(i%2), Start: at, End: at + step,
			})
		}
		w.Lanes = append(w.Lanes, lane)
	}
	return w
}

func idOf(n int) jvmthread.SessionID {
	return jvmthread.SessionID{0: 1, 13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)}
}

// windows counts the windows of a second that a session still has, from its end.
func windows(sn *store.Snapshot) int { return int((sn.To - sn.From) / second) }

// Whatever sessions do, the store has at most its limit at any time, and a session with less than an equal part loses nothing.
func TestStoreNeverExceedsItsLimit(t *testing.T) {
	const limit = 512 << 10
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 1))
		st, sym := store.New(limit, nil), newSymbols()
		type one struct {
			*store.Session
			n, threads, intervals int
		}
		var live []*one
		opened := 0
		for range 600 {
			switch {
			case len(live) == 0 || len(live) < 12 && rng.IntN(20) == 0:
				opened++
				// From a few bytes to more than a session may ever have.
				live = append(live, &one{
					Session: st.Open(idOf(opened), store.Meta{"service.name": strconv.Itoa(opened)}),
					threads: 1 + rng.IntN(20), intervals: 1 << rng.IntN(10),
				})
			case rng.IntN(40) == 0:
				i := rng.IntN(len(live))
				live[i].Close(window.CutEnd)
				live = append(live[:i], live[i+1:]...)
			default:
				o := live[rng.IntN(len(live))]
				before := st.Sessions()
				o.Events(make([]jvmthread.Event, rng.IntN(100)), sym)
				o.Append(windowOf(o.n, o.threads, o.intervals), sym)
				o.n++
				for _, was := range before {
					s := st.Session(was.ID)
					if s != nil && (s == o.Session || s.Snapshot().Evicted == was.Evicted) {
						continue
					}
					assert.True(t, was.Bytes > limit/int64(len(before)+1) || !was.Live, "program %d: session %v with %d bytes lost windows", seed, was.ID, was.Bytes)
				}
			}
			require.LessOrEqual(t, st.Stats().Bytes, int64(limit), "program %d", seed)
		}
		var sum int64
		for _, sn := range st.Sessions() {
			sum += sn.Bytes
		}
		require.Equal(t, st.Stats().Bytes, sum, "program %d", seed)
	}
}

// If other parts of the process need memory, the store gives up windows before its own limit, down to its reserve.
func TestStoreGivesWayToOthers(t *testing.T) {
	const limit = 4 << 20
	root := new(budget.Root)
	root.SetLimit(limit)
	own, others := root.New(budget.Store, 0), root.New(budget.Buffers, 0)
	st, sym := store.New(limit*10, nil), newSymbols()
	st.SetBudget(own)
	noisy, quiet := st.Open(idOf(1), nil), st.Open(idOf(2), nil)
	quiet.Append(windowOf(0, 1, 100), sym)
	n := 0
	fill := func() {
		for range 400 {
			noisy.Append(windowOf(n, 10, 100), sym)
			n++
		}
		assert.Equal(t, st.Stats().Bytes, own.Held())
	}
	fill()
	assert.InDelta(t, limit*15/16, st.Stats().Bytes, limit/16)
	others.Force(limit / 2)
	fill()
	assert.InDelta(t, limit/2, st.Stats().Bytes, limit/16)
	others.Force(limit)
	fill()
	assert.InDelta(t, limit/8, st.Stats().Bytes, limit/16)
	assert.Zero(t, quiet.Snapshot().Evicted)
	others.Give(limit)
	fill()
	assert.InDelta(t, limit/2, st.Stats().Bytes, limit/16)
	own.Close()
	assert.Zero(t, root.Held(budget.Store))
}

// While a noisy session floods the store, quiet ones keep all that fits into an equal part, whether they are live or have ended.
func TestQuietSessionsKeepTheirWindows(t *testing.T) {
	const limit = 16 << 20
	st, sym := store.New(limit, nil), newSymbols()
	quiet, ended, noisy := st.Open(idOf(1), nil), st.Open(idOf(2), nil), st.Open(idOf(3), nil)
	for n := range 50 {
		ended.Append(windowOf(n, 4, 100), sym)
	}
	ended.Close(window.CutEnd)
	for n := range 400 {
		quiet.Append(windowOf(n, 4, 10), sym)
		noisy.Append(windowOf(n, 20, 1000), sym)
		require.LessOrEqual(t, st.Stats().Bytes, int64(limit))
	}
	assert.Zero(t, quiet.Snapshot().Evicted)
	assert.Equal(t, 400, windows(quiet.Snapshot()))
	assert.Zero(t, ended.Snapshot().Evicted)
	assert.Positive(t, noisy.Snapshot().Evicted)
	assert.Greater(t, noisy.Snapshot().Bytes, int64(limit)*8/10, "what others do not need is used")
}

// Sessions that want more than there is get equal parts.
func TestGreedySessionsGetEqualParts(t *testing.T) {
	const limit, sessions = 16 << 20, 5
	st, sym := store.New(limit, nil), newSymbols()
	var all []*store.Session
	for i := range sessions {
		all = append(all, st.Open(idOf(i+1), nil))
	}
	for n := range 200 {
		for i, s := range all {
			s.Append(windowOf(n, 1+5*i, 200), sym)
		}
	}
	for _, s := range all[1:] {
		assert.InEpsilon(t, limit/sessions, s.Snapshot().Bytes, 0.3)
	}
}

// If the store is full of short-lived sessions, those that ended first go, and live ones keep a usable part.
func TestOldestEndedSessionsGoFirst(t *testing.T) {
	const limit = 4 << 20
	st, sym := store.New(limit, nil), newSymbols()
	service := st.Open(idOf(1_000_000), nil)
	for i := range 600 {
		job := st.Open(idOf(i+1), nil)
		for n := range 5 {
			job.Append(windowOf(n, 4, 100), sym)
		}
		job.Close(window.CutEnd)
		service.Append(windowOf(i, 4, 200), sym)
		require.LessOrEqual(t, st.Stats().Bytes, int64(limit))
	}
	assert.Greater(t, service.Snapshot().Bytes, int64(limit/40))
	var oldest, newest int
	for i := range 600 {
		if st.Session(idOf(i+1)) != nil {
			if oldest == 0 {
				oldest = i + 1
			}
			newest = i + 1
		}
	}
	assert.Equal(t, 600, newest)
	assert.Equal(t, newest-oldest+2, st.Stats().Sessions, "the last ones are complete")
	assert.Greater(t, st.Stats().Sessions, 20)
}

// A window that is larger than the store is evicted at once, and takes nothing from others.
func TestWindowLargerThanTheStore(t *testing.T) {
	const limit = 1 << 20
	st, sym := store.New(limit, nil), newSymbols()
	small, huge := st.Open(idOf(1), nil), st.Open(idOf(2), nil)
	for n := range 10 {
		small.Append(windowOf(n, 2, 100), sym)
	}
	huge.Append(windowOf(0, 20, 10_000), sym)
	sn := huge.Snapshot()
	assert.Equal(t, 1, sn.Evicted)
	assert.Equal(t, sn.To, sn.From)
	assert.Zero(t, small.Snapshot().Evicted)
	huge.Append(windowOf(1, 2, 100), sym)
	assert.Equal(t, 200, huge.Snapshot().Counts.Intervals)
}

// Names and stacks of one session cannot take the store from others.
func TestTextsAreBounded(t *testing.T) {
	const limit = 8 << 20
	st := store.New(limit, nil)
	limits := symbols.DefaultLimits()
	sym := symbols.New(limits)
	hostile := st.Open(idOf(1), nil)
	var events []jvmthread.Event
	for i := range 2000 {
		stack := sym.InternStack(fmt.Sprintf("at a.A.m%d(A.java:1)\n%s", i, strings.Repeat("x", 8000)))
		events = append(events, jvmthread.Event{Time: jvmthread.Time(i), Thread: 1, Kind: jvmthread.KindSleepStart, Stack: stack})
	}
	hostile.Events(events, sym)
	assert.Less(t, st.Stats().Bytes, int64(limit)/4)
	hostile.Close(window.CutEnd)
}
