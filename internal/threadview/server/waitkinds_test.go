// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The kinds of waits add up to what the tables of threads and classes have, and to the rows of callers of the same kind.
func TestKindsMatchTheOtherTables(t *testing.T) {
	fixtures := []*fixture{reportAndMatchers(t, 170*time.Millisecond)}
	for seed := range uint64(4) {
		fixtures = append(fixtures, newFixture(t, seed, 8, 3, 2000, time.Duration(300+200*seed)))
	}
	for n, f := range fixtures {
		whole := ask[viewapi.Session](f, "")
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		for range 6 {
			from := whole.From + rng.Int64N(whole.To-whole.From)
			to := from + 1 + rng.Int64N(whole.To-from)
			scope := fmt.Sprintf("from=%d&to=%d%s", from, to, []string{"", "&threads=1-4"}[rng.IntN(2)])
			table := ask[viewapi.Kinds](f, "/kinds?"+scope)
			by := map[string]viewapi.StateTime{}
			var all viewapi.StateTime
			for _, row := range table.Kinds {
				by[row.State] = viewapi.StateTime{Count: by[row.State].Count + row.Stats.Count, Time: by[row.State].Time + row.Stats.Time}
				all = viewapi.StateTime{Count: all.Count + row.Stats.Count, Time: all.Time + row.Stats.Time}
				callers := ask[viewapi.Callers](f, fmt.Sprintf("/callers?kind=%s&wait=%s&limit=1&%s", row.State, row.Wait, scope))
				require.Equal(t, callers.Sum.Stats, row.Stats, "%s of %s", row.Wait, scope)
				require.Equal(t, callers.Sum.Threads, row.Threads)
				require.LessOrEqual(t, len(row.Most), row.Names)
			}
			require.Equal(t, viewapi.StateTime{Count: table.Sum.Stats.Count, Time: table.Sum.Stats.Time}, all)
			threads := ask[viewapi.Threads](f, "/threads?limit=1&"+scope).Sum
			require.Equal(t, threads.Blocked, by["blocked"], scope)
			require.Equal(t, threads.Waited, by["waited"], scope)
			require.Equal(t, threads.States[jvmthread.StateSleeping].Time, by["sleeping"].Time, scope)
			classes := ask[viewapi.Classes](f, "/classes?limit=1&"+scope).Sum
			for state, s := range map[string]viewapi.Stats{
				"blocked": classes.Blocked, "waited": classes.Waited, "reenter": classes.Reenter, "parked": classes.Parked, "joined": classes.Joined,
			} {
				require.Equal(t, viewapi.StateTime{Count: s.Count, Time: s.Time}, by[state], "%s of %s", state, scope)
			}
		}
	}
	pool := ask[viewapi.Kinds](fixtures[0], "/kinds?sort=names")
	at := slices.IndexFunc(pool.Kinds, func(r viewapi.KindRow) bool { return r.Wait == "pool" })
	require.GreaterOrEqual(t, at, 0)
	assert.Equal(t, []string{"HikariPool"}, pool.Kinds[at].Most)
}
