// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
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
	"github.com/weft-otel/weft/internal/viewapi"
)

// virtualFixture serves a session with roll-ups. One that is not over has open intervals.
func virtualFixture(t *testing.T, sym *symbols.Table, events []jvmthread.Event, length time.Duration, over bool) *fixture {
	t.Helper()
	f := &fixture{t: t, store: store.New(math.MaxInt64, nil), events: events, symbols: sym}
	f.store.Rollups(500)
	f.session = f.store.Open(sessionID, store.Meta{"service.name": "test"})
	watched(events, length, sym, nil, func(w *window.Window) {
		if over || w.Cut != window.CutEnd {
			f.session.Append(w, sym)
		}
	})
	if over {
		f.session.Close(window.CutLost)
	}
	f.view = server.New(f.store, server.Config{})
	f.Server = httptest.NewServer(f.view.Handler())
	t.Cleanup(func() {
		f.view.Close()
		f.Close()
	})
	return f
}

// groupOf names what a virtual thread does, or the pool of a platform thread; those of an empty one are not counted.
type groupOf func(id jvmthread.ThreadID) string

// grouping is an endpoint that groups threads.
type grouping struct {
	path, only, parameter string
	of                    groupOf
}

func virtualOf(of groupOf) grouping { return grouping{"/virtual", "virtual", "virtual_group", of} }

// counted adds up, thread by thread and step by step, how long the threads of each group were in each state.
func (f *fixture) counted(by grouping, out *viewapi.Virtual) map[string][][]int64 {
	sn := f.session.Snapshot()
	groups := map[string][][]int64{}
	for i := range sn.Threads {
		th := &sn.Threads[i]
		if !th.Known || th.Virtual != (by.only == "virtual") || by.only == "platform" && by.of(th.ID) == "" {
			continue
		}
		g := groups[by.of(th.ID)]
		if g == nil {
			g = make([][]int64, store.NumShown)
			for s := range g {
				g[s] = make([]int64, out.Steps)
			}
			groups[by.of(th.ID)] = g
		}
		c := sn.Walk(i, math.MinInt64, math.MaxInt64)
		for c.Next() {
			start, end := int64(c.Start-sn.Origin), int64(c.End-sn.Origin)
			for step := max(0, (start-out.From)/out.Step); step < int64(out.Steps) && out.From+step*out.Step < end; step++ {
				from := out.From + step*out.Step
				to := min(from+out.Step, out.To)
				g[c.Shown()][step] += max(0, min(end, to)-max(start, from))
			}
		}
	}
	for _, g := range groups {
		for s := range g {
			if slices.Max(g[s]) == 0 {
				g[s] = []int64{}
			}
		}
	}
	return groups
}

func sumOf(list []int64) (sum int64) {
	for _, n := range list {
		sum += n
	}
	return sum
}

func plus(to *viewapi.StateTime, more viewapi.StateTime) {
	to.Count += more.Count
	to.Time += more.Time
}

// compareGroups compares the groups over a range with the table of threads and with a count thread by thread, to the nanosecond.
func (f *fixture) compareGroups(by grouping, from, to int64, width int) {
	f.t.Helper()
	span := fmt.Sprintf("from=%d&to=%d", from, to)
	got := ask[viewapi.Virtual](f, fmt.Sprintf("%s?%s&width=%d", by.path, span, width))
	table := ask[viewapi.Threads](f, "/threads?only="+by.only+"&limit=1&"+span)
	counted := f.counted(by, &got)
	require.Len(f.t, got.Groups, len(counted))
	sum, threads := viewapi.ThreadSum{States: make([]viewapi.StateTime, jvmthread.NumStates)}, 0
	for i := range got.Groups {
		g := &got.Groups[i]
		require.Equal(f.t, counted[g.Name], g.OverTime, "%s %s", g.Name, span)
		threads += g.Threads
		plus(&sum.Blocked, g.Blocked)
		plus(&sum.Waited, g.Waited)
		plus(&sum.Idle, g.Idle)
		sum.Time += g.Time
		assert.Equal(f.t, g.Idle.Time, sumOf(g.OverTime[store.StateIdle]), "%s idle %s", g.Name, span)
		shown, tabled := g.Idle.Time, int64(0) // states are shown otherwise than they are tabled, but the time is the same
		for s := range g.States {
			plus(&sum.States[s], g.States[s])
			shown, tabled = shown+sumOf(g.OverTime[s]), tabled+g.States[s].Time
		}
		assert.Equal(f.t, tabled, shown, "%s %s", g.Name, span)
		for _, state := range []jvmthread.State{jvmthread.StateQueued, jvmthread.StateRunnable, jvmthread.StateSleeping} {
			assert.Equal(f.t, g.States[state].Time, sumOf(g.OverTime[state]), "%s %s %s", g.Name, state, span)
		}
		stopped := sumOf(g.OverTime[jvmthread.StateBlocked]) + sumOf(g.OverTime[jvmthread.StateDeadlocked])
		assert.Equal(f.t, g.Blocked.Time, stopped, "%s %s", g.Name, span)
		members := ask[viewapi.Threads](f, "/threads?limit=1&"+by.parameter+"="+url.QueryEscape(g.Name)+"&"+span)
		assert.Equal(f.t, g.Threads, members.Total)
		assert.Equal(f.t, g.ThreadSum, members.Sum, g.Name)
	}
	if by.only == "virtual" { // each is in a group
		assert.Equal(f.t, table.Total, threads)
		assert.Equal(f.t, table.Sum, sum, span)
	}
}

// anyRanges compares the groups over all of a session and over random parts of it.
func (f *fixture) anyRanges(rng *rand.Rand, by grouping) {
	f.t.Helper()
	sn := f.session.Snapshot()
	end := int64(sn.To - sn.Origin)
	f.compareGroups(by, 0, end, 100)
	for range 5 {
		from := rng.Int64N(end)
		f.compareGroups(by, from, from+1+rng.Int64N(end-from), 1+rng.IntN(300))
	}
}

// The groups of virtual threads are those that the program knows, and their sums over time equal those of the tables.
func TestVirtualThreadsAreGrouped(t *testing.T) {
	const n = 2000
	for _, short := range []bool{true, false} {
		for _, over := range []bool{true, false} {
			sym := symbols.New(symbols.DefaultLimits())
			f := virtualFixture(t, sym, threadtest.VirtualThreads(sym, n, short), 200*time.Millisecond, over)
			want := map[string]int{}
			for i := range n {
				want[threadtest.CrowdGroup(i)]++
			}
			got := map[string]int{}
			for _, g := range ask[viewapi.Virtual](f, "/virtual").Groups {
				got[g.Name] = g.Threads
				switch {
				case !short:
					assert.Equal(t, g.Threads, g.Alive, g.Name)
				case over:
					assert.Zero(t, g.Alive, g.Name)
				}
			}
			if over || !short { // else the last window, which is not over, has threads of its own
				assert.Equal(t, want, got)
			}
			assert.Equal(t, threadtest.CrowdPlatform, ask[viewapi.Threads](f, "/threads?only=platform").Total)
			assert.Equal(t, threadtest.CrowdPlatform, ask[viewapi.Session](f, "").PlatformThreads)
			f.anyRanges(rand.New(rand.NewPCG(1, 2)), virtualOf(func(id jvmthread.ThreadID) string { return threadtest.CrowdGroup(int(id) - threadtest.CrowdFirst) }))
		}
	}
}

// The same for random histories, in all states.
func TestGroupsMatchThreads(t *testing.T) {
	names := []string{"", "order-%d", "price-%d", "(other virtual threads)", "the only one"}
	groups := []string{"virtual threads", "order-*", "price-*", "(other virtual threads)", "the only one"}
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 3))
		sym := symbols.New(symbols.DefaultLimits())
		for i := 1; i <= threadClass; i++ {
			sym.InternClass(fmt.Sprintf("com.acme.Class%d", i))
		}
		of := map[jvmthread.ThreadID]string{}
		for id := jvmthread.ThreadID(1); id <= 16; id++ {
			th := jvmthread.Thread{ID: id, Virtual: rng.IntN(4) > 0, Name: fmt.Sprintf("worker-%d", id)}
			if k := rng.IntN(len(names)); th.Virtual {
				of[id], th.Name = groups[k], names[k]
				if strings.Contains(th.Name, "%") {
					th.Name = fmt.Sprintf(th.Name, id)
				}
			}
			sym.SetThread(th)
		}
		f := virtualFixture(t, sym, threadtest.Simulate(seed, 16, 4, 400).Events, time.Duration(200+rng.IntN(2000)), seed%2 == 0)
		f.anyRanges(rng, virtualOf(func(id jvmthread.ThreadID) string { return of[id] }))
	}
}

// Of many groups, the smallest become one, which keeps their sums; the answer stays small.
func TestGroupsAreBounded(t *testing.T) {
	const n = 300 // 100 groups of 5, 4, 3, ... threads, with long names
	sym := symbols.New(symbols.DefaultLimits())
	var events []jvmthread.Event
	for i := range n {
		id := jvmthread.ThreadID(i + 1)
		word := string(rune('a'+i%10)) + string(rune('a'+i/10%10)) + strings.Repeat("é", 2000)
		if i >= 100 {
			word = string(rune('a'+i%7)) + "0" + strings.Repeat("é", 2000)
		}
		sym.SetThread(jvmthread.Thread{ID: id, Name: word, Virtual: true})
		for k := range 20 {
			at := jvmthread.Time(1+i+1000*k) * 1_000_003
			kind := []jvmthread.Kind{jvmthread.KindPark, jvmthread.KindUnparked, jvmthread.KindSleepStart, jvmthread.KindSleepEnd}[k%4]
			events = append(events, jvmthread.Event{Time: at, Thread: id, Kind: kind, Flags: jvmthread.FlagVirtual})
		}
	}
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return int(a.Time - b.Time) })
	f := virtualFixture(t, sym, events, time.Second, true)
	got := ask[viewapi.Virtual](f, "/virtual?width=2000") // at most 200 KB
	require.Len(t, got.Groups, store.MaxVirtualGroups)
	assert.Greater(t, got.Steps, 50)
	var sum int64
	for i := range got.Groups {
		g := &got.Groups[i]
		assert.LessOrEqual(t, len(g.Name), 256)
		sum += g.Time
		assert.Equal(t, g.Threads, ask[viewapi.Threads](f, "/threads?limit=1&virtual_group="+url.QueryEscape(g.Name)).Total)
	}
	assert.Equal(t, ask[viewapi.Threads](f, "/threads?limit=1").Sum.Time, sum)
	rest := slices.IndexFunc(got.Groups, func(g viewapi.VirtualGroup) bool { return g.Name == store.OtherVirtual })
	require.GreaterOrEqual(t, rest, 0)
	assert.Equal(t, n-200-(store.MaxVirtualGroups-1-7), got.Groups[rest].Threads)
}

// Arrows and paths say in which groups their virtual threads are.
func TestEndsOfArrowsHaveGroups(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	f := virtualFixture(t, sym, threadtest.VirtualThreads(sym, 500, true), time.Second, true)
	arrows, path := ask[viewapi.Arrows](f, "/interactions"), ask[viewapi.Path](f, "/path")
	for _, ends := range []struct {
		threads []viewapi.ThreadRef
		virtual []viewapi.Members
	}{{arrows.Threads, arrows.Virtual}, {path.Threads, path.Virtual}} {
		var want, got []uint64
		for _, th := range ends.threads {
			if th.ID >= threadtest.CrowdFirst {
				want = append(want, th.ID)
			}
		}
		for _, m := range ends.virtual {
			got = append(got, m.Threads...)
			for _, id := range m.Threads {
				assert.Equal(t, threadtest.CrowdGroup(int(id)-threadtest.CrowdFirst), m.Group)
			}
		}
		assert.NotEmpty(t, want)
		assert.ElementsMatch(t, want, got)
	}
}

// A search that fits thousands of threads answers with some: platform threads first.
func TestSearchOfManyThreads(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	f := virtualFixture(t, sym, threadtest.VirtualThreads(sym, 5000, true), time.Second, true)
	found := ask[viewapi.Found](f, "/search?q=e&limit=40") // in "exec", "session", "VirtualThreads"
	require.Len(t, found.Hits, 40)
	assert.True(t, found.More)
	for i, h := range found.Hits {
		require.Equal(t, "thread", h.Kind)
		assert.Equal(t, i < threadtest.CrowdPlatform, h.Thread.ID < threadtest.CrowdFirst, h.Text)
	}
}
