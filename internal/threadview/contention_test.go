// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/contention"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/window"
)

// The page's tables are the connector's metrics, to the nanosecond, even if the two cut other windows: also the time of what goes on.
func TestTablesAreTheConnectorsMetrics(t *testing.T) {
	type key struct {
		class string
		kind  string
	}
	for seed := range uint64(12) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		account := contention.New(&contention.Config{
			Buckets: []time.Duration{10, 100, 1000}, StuckAfter: time.Hour, MaxSeries: 10_000, Expiry: time.Hour, Budget: &contention.Budget{Limit: math.MaxInt32},
		}, f.symbols, time.Now())
		cfg := engine.DefaultConfig()
		cfg.Window = time.Duration(2000 + 100*seed)
		e := engine.New(cfg)
		yield := func(w *window.Window) { account.Window(w, e.Timeline()) }
		e.AddBatch(1, 0, f.events[len(f.events)-1].Time+1, f.events)
		e.Advance(yield)
		e.Close(window.CutEnd, yield)
		account.Close(e.Timeline(), e.Now())

		want := map[key]viewapi.StateTime{}
		var states [jvmthread.NumStates]int64
		account.Flush(nil, time.Now(), false, func(s *contention.Statement) {
			words := map[contention.Kind]string{ //nolint:exhaustive // the others are of no lock
				contention.KindMonitor: "blocked", contention.KindObject: "waited", contention.KindReenter: "reenter",
				contention.KindJoin: "joined", contention.KindPark: "parked", contention.KindSynchronizer: "parked",
			}
			for _, list := range [][]*contention.Series[contention.WaitKey, contention.Waits]{s.Blocked(), s.Waits()} {
				for _, w := range list {
					k := key{f.symbols.Class(w.Key.Class), words[w.Key.Kind]}
					sum := want[k]
					sum.Count += int64(w.Value.Count)
					sum.Time += int64(w.Value.Time)
					want[k] = sum
				}
			}
			for _, p := range s.States() {
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
