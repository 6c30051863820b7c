// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profiles_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/cmd/weft/internal/profiles"
	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// comparedOnPage returns what the page says of two recordings.
func comparedOnPage(t *testing.T, before, now string) viewapi.Comparison {
	t.Helper()
	ctx := t.Context()
	p, err := local.NewPage(&local.PageOptions{MaxBytes: 1 << 28, Window: time.Second, Logger: zap.NewNop()})
	require.NoError(t, err)
	defer p.Close(ctx)
	receiver, err := local.Files(ctx, []string{before, now}, "", 1<<30, p, zap.NewNop())
	require.NoError(t, err)
	<-receiver.Finished()
	require.NoError(t, receiver.Close(ctx))
	p.Finish(ctx)
	client := page.Of(p.Handler())
	list, err := client.Sessions(ctx)
	require.NoError(t, err)
	ids := make(map[string]string)
	for i := range list.Sessions {
		id := list.Sessions[i].ID
		ids[id[:2]] = id
	}
	c, err := client.Compare(ctx, ids["02"], page.Query{"before": {ids["01"]}, "limit": {"200"}})
	require.NoError(t, err)
	return c
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
		onPage := comparedOnPage(t, files[0], files[1])
		got := make(map[compare.Key]times)
		for i := range onPage.Changes {
			r := &onPage.Changes[i]
			got[compare.Key{Kind: r.Kind, Object: r.Object, Site: r.Function}] = times{sum(r.Before), sum(r.After)}
		}
		require.NotEmpty(t, want)
		assert.Equal(t, want, got, "seed %d", seed)
		assert.Equal(t, times{c.Total.Before, c.Total.After}, times{sum(onPage.Sum.Before), sum(onPage.Sum.After)})
		assert.True(t, slices.ContainsFunc(c.Changes, func(c compare.Change) bool { return c.Verdict != compare.Same }))
		assert.Equal(t, string(c.Total.Verdict), onPage.Sum.Verdict)
	}
}
