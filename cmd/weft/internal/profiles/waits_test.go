// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profiles_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/cmd/weft/internal/profiles"
	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// onPage shows recordings as weft view does, and returns the IDs of their sessions by the first byte.
func onPage(t *testing.T, files ...string) (_ *page.Client, ids map[string]string) {
	t.Helper()
	ctx := t.Context()
	p, err := localtest.Open(t, files...)
	require.NoError(t, err)
	client := page.Of(p.Handler())
	list, err := client.Sessions(ctx)
	require.NoError(t, err)
	ids = make(map[string]string)
	for i := range list.Sessions {
		id := list.Sessions[i].ID
		ids[id[:2]] = id
	}
	return client, ids
}

type times struct{ before, now compare.Sum }

func sum(s viewapi.StateTime) compare.Sum {
	return compare.Sum{Count: uint64(s.Count), Time: time.Duration(s.Time)}
}

// The command and the page compare two recordings with the same sums, to the nanosecond, and come to the same verdicts.
func TestWaitsAreThoseOfThePage(t *testing.T) {
	for seed := range uint64(8) {
		var files [2]string
		var runs [2]*compare.Run
		for i := range files {
			events, sym := threadtest.Recorded(seed+uint64(i)*100, 4+int(seed), 4, 2000)
			for k := range events {
				events[k].Time = 1_700_000_000_000_000_000 + 100_000*events[k].Time
			}
			files[i] = recordedAs(t, byte(i+1), events, sym)
			run, err := profiles.Waits(source(t, files[i]))
			require.NoError(t, err)
			runs[i] = run
		}
		c := compare.Runs(runs[0], runs[1])
		want := make(map[compare.Key]times)
		for i := range c.Changes {
			want[c.Changes[i].Key] = times{c.Changes[i].Before, c.Changes[i].After}
		}
		client, ids := onPage(t, files[:]...)
		shown, err := client.Compare(t.Context(), ids["02"], page.Query{"before": {ids["01"]}, "limit": {"200"}})
		require.NoError(t, err)
		got := make(map[compare.Key]times)
		for i := range shown.Changes {
			r := &shown.Changes[i]
			got[compare.Key{Kind: r.Kind, Object: r.Object, Site: r.Function}] = times{sum(r.Before), sum(r.After)}
		}
		require.NotEmpty(t, want)
		assert.Equal(t, want, got, "seed %d", seed)
		assert.Equal(t, times{c.Total.Before, c.Total.After}, times{sum(shown.Sum.Before), sum(shown.Sum.After)})
		assert.True(t, slices.ContainsFunc(c.Changes, func(c compare.Change) bool { return c.Verdict != compare.Same }))
		assert.Equal(t, string(c.Total.Verdict), shown.Sum.Verdict)
	}
}

// What holders did while others waited has the same sums in the profile mutex and in the flame graph of the page, to the nanosecond.
func TestHoldersAreThoseOfThePage(t *testing.T) {
	const taken = "ran with the lock taken at a stack"
	states := 0
	for seed := range uint64(12) {
		events, sym := threadtest.Recorded(seed, 4+int(seed), 4, 2000)
		if seed == 0 {
			sym = symbols.New(symbols.DefaultLimits())
			events = threadtest.ReportAndMatchers(sym)
		} else {
			for k := range events {
				events[k].Time = 1_700_000_000_000_000_000 + 100_000*events[k].Time
			}
		}
		file := recordedAs(t, 1, events, sym)
		want := make(map[string]int64)
		p, err := profiles.Read(source(t, file), profiles.Request{Family: profile.Mutex})
		require.NoError(t, err)
		for _, s := range p.Samples {
			what := ""
			for _, l := range s.Labels {
				if l.Key == "weft.lock.holder.state" {
					what = l.Value
				}
			}
			if frames := p.Stacks[s.Stack]; frames[0].Class == "" && strings.HasPrefix(frames[0].Method, "[ran with") {
				what = taken
			}
			want[what] += int64(s.Time)
		}
		client, ids := onPage(t, file)
		flame, err := client.Flame(t.Context(), ids["01"], page.Query{"width": {"4000"}})
		require.NoError(t, err)
		got := make(map[string]int64)
		for i, parent := range flame.Holders.Parent {
			if parent >= 0 {
				continue
			}
			what := jvmthread.StateUnknown.String()
			switch name := flame.Holders.Name[i]; {
			case name == viewapi.FlameOthers:
				what = "too small to be seen"
			case name == viewapi.FlameTaken:
				what = taken
			case name <= viewapi.FlameState:
				what = jvmthread.State(viewapi.FlameState - name).String()
			}
			got[what] += flame.Holders.Time[i]
		}
		small := int64(0) // on the page: less than one of 4,000 pixels
		maps.DeleteFunc(want, func(_ string, time int64) bool {
			fold := time*4000 < int64(p.Total().Time)
			if fold {
				small += time
			}
			return fold
		})
		if small > 0 {
			want["too small to be seen"] = small
		}
		assert.Equal(t, want, got, "seed %d", seed)
		states = max(states, len(want))
	}
	assert.Greater(t, states, 3)
}
