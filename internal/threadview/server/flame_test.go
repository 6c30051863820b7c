// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// treesAddUp checks that both trees of each lock have its sums, and that no node has less than its children.
func treesAddUp(t *testing.T, f *viewapi.Flame) {
	t.Helper()
	var all, before viewapi.StateTime
	for i := range f.Locks {
		all.Count, all.Time = all.Count+f.Locks[i].Sum.Count, all.Time+f.Locks[i].Sum.Time
		before.Count, before.Time = before.Count+f.Locks[i].Before.Count, before.Time+f.Locks[i].Before.Time
	}
	require.Equal(t, f.Sum, all)
	require.Equal(t, f.Before, before)
	for side, tree := range []*viewapi.FlameTree{&f.Waiters, &f.Holders} {
		locks, under := make([]viewapi.StateTime, len(f.Locks)), make([]viewapi.StateTime, len(tree.Parent))
		earlier := make([]int64, len(f.Locks))
		for i, parent := range tree.Parent {
			require.Less(t, parent, i, "parents come first")
			sum := &viewapi.StateTime{}
			if parent < 0 {
				sum = &locks[-1-parent]
				if f.Baseline != nil {
					earlier[-1-parent] += tree.Before[i]
				}
			} else {
				sum = &under[parent]
			}
			sum.Count += tree.Count[i]
			sum.Time += tree.Time[i]
		}
		for i := range f.Locks {
			require.Equal(t, f.Locks[i].Sum, locks[i], "side %d of %s", side, f.Locks[i].Name)
			require.Equal(t, f.Locks[i].Before.Time, earlier[i], "side %d of %s, before", side, f.Locks[i].Name)
		}
		for i := range under {
			require.LessOrEqual(t, under[i].Time, tree.Time[i])
			require.LessOrEqual(t, under[i].Count, tree.Count[i])
		}
	}
}

// For any range, waiters and holders of each lock add up to the time that the tables have, to the nanosecond.
func TestFlameGraphHasTheSumsOfTheTables(t *testing.T) {
	known := 0
	for seed := range uint64(8) {
		f := newFixture(t, seed, 6+int(seed)*2, 1+int(seed%4), 3000, time.Duration(300+200*seed))
		rng := rand.New(rand.NewPCG(seed, 7))
		all := ask[viewapi.Session](f, "")
		for range 12 {
			from := all.From + rng.Int64N(all.To-all.From)
			to := from + 1 + rng.Int64N(all.To-from)
			if rng.IntN(4) == 0 {
				from, to = all.From, all.To
			}
			threads := []string{"", "&group=pool", "&threads=1-4"}[rng.IntN(3)]
			scope := fmt.Sprintf("from=%d&to=%d%s", from, to, threads)
			fold := []string{"", "&limit=9", "&width=30"}[rng.IntN(3)]
			flame := ask[viewapi.Flame](f, "/flame?"+scope+fold)
			treesAddUp(t, &flame)
			callers := ask[viewapi.Callers](f, "/callers?kind=blocked&limit=200&"+scope)
			require.Equal(t, callers.Sum.Stats.Time, flame.Sum.Time, scope)
			require.Equal(t, callers.Sum.Stats.Count, flame.Sum.Count, scope)
			require.Equal(t, ask[viewapi.Threads](f, "/threads?limit=1&"+scope).Sum.Blocked.Time, flame.Sum.Time, scope)
			require.Equal(t, ask[viewapi.Answer](f, "/answer?"+scope).Time, flame.Sum.Time, scope)
			byLock := map[string]int64{}
			for i := range callers.Callers {
				byLock[callers.Callers[i].Class] += callers.Callers[i].Stats.Time
			}
			for i := range flame.Locks {
				if l := &flame.Locks[i]; l.Folded == 0 {
					require.Equal(t, byLock[l.Class], l.Sum.Time, "%s of %s", l.Class, scope)
				}
			}
			for i, name := range flame.Holders.Name {
				if name <= viewapi.FlameTaken && flame.Holders.Time[i] > 0 {
					known++
					require.NotZero(t, flame.Holders.Thread[i])
				}
			}
		}
	}
	assert.Greater(t, known, 100, "what holders did")
}

// path returns the names of the heaviest path of a tree from a lock outwards.
func path(f *viewapi.Flame, tree *viewapi.FlameTree, lock int) (names []string, leaf int) {
	at := -1 - lock
	for {
		next := -1
		for i, parent := range tree.Parent {
			if parent == at && (next < 0 || tree.Time[i] > tree.Time[next]) {
				next = i
			}
		}
		if next < 0 {
			return names, at
		}
		name := strconv.Itoa(tree.Name[next])
		if tree.Name[next] >= 0 {
			name = f.Names[tree.Name[next]]
		}
		names, at = append(names, name), next
	}
}

// The graph has the lock, the code that waits, and what the holder did.
func TestFlameGraphOfReportAndMatchers(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	flame := ask[viewapi.Flame](f, "/flame")
	treesAddUp(t, &flame)
	require.Len(t, flame.Locks, 2)
	assert.Equal(t, []string{"OrderBook.lock", "HikariPool"}, []string{flame.Locks[0].Name, flame.Locks[1].Name})
	assert.Equal(t, []string{"lock", "pool"}, []string{flame.Locks[0].Kind, flame.Locks[1].Kind})
	waits, at := path(&flame, &flame.Waiters, 0)
	assert.Equal(t, "com.acme.Matcher.match", waits[0])
	iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", flame.Waiters.Thread[at], flame.Waiters.Seq[at]))
	assert.Equal(t, "lock", iv.Wait)
	assert.Equal(t, flame.Locks[0].Longest.Thread.ID, flame.Waiters.Thread[at])
	did, at := path(&flame, &flame.Holders, 0)
	sleeping := viewapi.FlameState - int(jvmthread.StateSleeping)
	assert.Equal(t, []string{strconv.Itoa(sleeping), "com.acme.Report.write"}, did[:2])
	iv = ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", flame.Holders.Thread[at], flame.Holders.Seq[at]))
	assert.Equal(t, "report", iv.Thread.Name)
	assert.Equal(t, int(jvmthread.StateSleeping), iv.State)

	pool := ask[viewapi.Flame](f, "/flame?lock=HikariPool")
	treesAddUp(t, &pool)
	require.Len(t, pool.Locks, 1)
	assert.Equal(t, flame.Locks[1].Sum, pool.Locks[0].Sum)
	assert.Equal(t, flame.Locks[0].Sum, ask[viewapi.Flame](f, "/flame?class="+url.QueryEscape(flame.Locks[0].Class)).Sum)

	quiet := ask[viewapi.Flame](f, fmt.Sprintf("/flame?to=%d", 90*ms))
	assert.Empty(t, quiet.Locks)
	assert.Zero(t, quiet.Sum)
}

// A lock that threads did not wait for before is new, and the sums of both ranges are exact.
func TestFlameGraphIsCompared(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	middle := (100 + 300*threadtest.ReportRounds - 2) * ms // the origin is the first event, at 1 ms
	flame := ask[viewapi.Flame](f, fmt.Sprintf("/flame?from=%d&before_from=0", middle))
	treesAddUp(t, &flame)
	require.NotNil(t, flame.Baseline)
	assert.Equal(t, []int64{0, middle}, []int64{flame.Baseline.From, flame.Baseline.To})
	assert.Equal(t, "second", flame.Baseline.Unit)
	assert.Equal(t, float64(flame.To-flame.From)/float64(middle), flame.Baseline.Scale)
	verdicts := map[string]string{}
	for i := range flame.Locks {
		verdicts[flame.Locks[i].Name] = flame.Locks[i].Verdict
	}
	assert.Equal(t, map[string]string{"HikariPool": "new", "OrderBook.lock": "gone"}, verdicts)
	assert.Equal(t, ask[viewapi.Flame](f, fmt.Sprintf("/flame?to=%d", middle)).Sum, flame.Before)
	for i := range flame.Waiters.Verdict {
		assert.Contains(t, []string{"new", "gone"}, viewapi.FlameVerdicts()[flame.Waiters.Verdict[i]])
	}
	itself := ask[viewapi.Flame](f, "/flame?from=0&before_to=100000000000&before_from=0&before="+sessionID.String())
	assert.Equal(t, itself.Sum, itself.Before)
	for query, want := range map[string]string{
		"?before=12":          "before: no such session",
		"?before_to=0":        "before_to: no data",
		"?width=0":            "width: want an integer",
		"?requests=5":         "requests: unknown parameter",
		"?from=9&before_to=x": "before_to: want an integer",
	} {
		status, body := f.get("sessions/" + sessionID.String() + "/flame" + query)
		assert.GreaterOrEqual(t, status, http.StatusBadRequest, query)
		assert.Contains(t, string(body), want, query)
	}
}

// An answer with ten thousand stacks of long names has at most 200 KB, and says what it folds.
func TestFlameGraphIsFolded(t *testing.T) {
	f := manyStacks(t, 10_000)
	for _, query := range []string{"", "?width=4000&limit=4000", "?limit=1", "?from=1000000&before_from=0&width=4000&limit=4000"} {
		flame := ask[viewapi.Flame](f, "/flame"+query) // checks the size
		treesAddUp(t, &flame)
		assert.NotZero(t, flame.Folded, query)
		require.NotEmpty(t, flame.Locks)
	}
	whole := ask[viewapi.Flame](f, "/flame?width=4000&limit=4000")
	assert.Greater(t, len(whole.Waiters.Parent), 500)
}

// manyStacks serves a session in which threads wait for locks at many different stacks.
func manyStacks(t *testing.T, stacks int) *fixture {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	return fixtureOf(t, sym, threadtest.ManyStacks(sym, stacks), time.Second)
}

// The sums do not depend on how the range is cut into slices.
func TestSlicesOfWindows(t *testing.T) {
	f := newFixture(t, 5, 10, 3, 3000, 300)
	sn := f.store.Session(sessionID).Snapshot()
	for _, most := range []int{1, 50, 1 << 30} {
		var parts [][2]jvmthread.Time
		sn.Slices(sn.From+77, sn.To, most, func(from, to jvmthread.Time) { parts = append(parts, [2]jvmthread.Time{from, to}) })
		at := sn.From + 77
		for _, p := range parts {
			assert.Equal(t, at, p[0])
			assert.Greater(t, p[1], p[0])
			at = p[1]
		}
		assert.Equal(t, sn.To, at)
		if most < 1000 {
			assert.Greater(t, len(parts), 1)
		} else {
			assert.Len(t, parts, 1)
		}
	}
}

// What holders did is what the profile "mutex" has. Only of locks with several holders at a time, nanoseconds may be divided differently.
func TestFlameGraphAgreesWithProfiles(t *testing.T) {
	type row struct {
		class string
		did   int
	}
	for seed := range uint64(12) {
		sym := symbols.New(symbols.DefaultLimits())
		for i := 1; i <= threadClass; i++ {
			sym.InternClass(fmt.Sprintf("com.acme.Class%d", i))
		}
		events := dress(threadtest.Simulate(seed, 4+int(seed), 3, 3000).Events, sym)
		cfg := engine.DefaultConfig()
		cfg.Window = time.Hour
		e := drive.New(cfg, sym)
		account := profile.New(&profile.Config{Holders: true, MaxSamples: 10_000, Budget: &contention.Budget{Limit: 1 << 20}}, sym, e.Waits())
		f := &fixture{t: t, store: store.New(math.MaxInt64, nil)}
		session := f.store.Open(sessionID, store.Meta{})
		yield := func(w *window.Window) {
			session.Append(w, sym)
			account.Window(w, e.Timeline())
		}
		e.Batch(events, 0, events[len(events)-1].Time+1, yield)
		e.Close(jvmthread.NoTime, window.CutEnd, yield)
		session.Close(window.CutEnd)
		want := map[row]int64{}
		account.Flush(func(_ profile.Family, samples []profile.Sample) {
			for i := range samples {
				s := &samples[i]
				r := row{sym.Class(s.Class), viewapi.FlameState - int(s.Doing)}
				switch {
				case s.Taken:
					r.did = viewapi.FlameTaken
				case s.Doing == jvmthread.StateUnknown:
					r.did = viewapi.FlameNoHolder
				}
				want[r] += int64(s.Time)
			}
		})
		f.view = server.New(f.store, server.Config{})
		f.Server = httptest.NewServer(f.view.Handler())
		flame := ask[viewapi.Flame](f, "/flame?width=4000&limit=4000")
		f.view.Close()
		f.Close()
		got := map[row]int64{}
		for i, parent := range flame.Holders.Parent {
			if parent < 0 {
				r := row{flame.Locks[-1-parent].Class, flame.Holders.Name[i]}
				if r.did == viewapi.FlameState-int(jvmthread.StateUnknown) {
					r.did = viewapi.FlameNoHolder
				}
				got[r] += flame.Holders.Time[i]
			}
		}
		require.Greater(t, len(want), 3)
		for r, time := range want {
			if _, ok := got[r]; ok || time*500 > flame.Sum.Time { // else it is folded
				assert.Equal(t, time, got[r], "program %d: %+v", seed, r)
			}
		}
	}
}
