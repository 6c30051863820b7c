// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// times is what threads waited, by kind.
type times [jvmthread.NumWaits]time.Duration

// Windows, the page, metrics and profiles have the same time of each kind of waits, wherever a history is cut; windows and the page also within
// each window.
func TestTimesAgree(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		events := threadtest.Simulate(seed, 2+int(seed%10), 4, 800).Events
		var whole times
		for n, length := range []time.Duration{time.Hour, 3000, 700, 150} {
			for phase := range jvmthread.Time(3) {
				phase *= jvmthread.Time(length) / 3
				about := fmt.Sprintf("program %d in windows of %v at phase %d", seed, length, phase)
				sum := agree(t, events, length, phase, about)
				if n == 0 && phase == 0 {
					whole = sum
				}
				require.Equal(t, whole, sum, about)
			}
		}
		require.Positive(t, whole[jvmthread.WaitSleep])
	}
}

// agree cuts a history into windows, checks that all have the same times, and returns them.
func agree(t *testing.T, events []jvmthread.Event, length time.Duration, phase jvmthread.Time, about string) (roots times) {
	t.Helper()
	sym := newSymbols()
	cfg := engine.DefaultConfig()
	cfg.Window, cfg.Phase = length, phase
	e := drive.New(cfg, nil)
	budget := &contention.Budget{Limit: math.MaxInt32}
	metrics := contention.New(&contention.Config{MaxSize: 10, MaxSeries: 1000, Expiry: time.Hour, Budget: budget}, sym, nil, time.Unix(0, 0))
	profiles := profile.New(&profile.Config{Waiters: true, Uncontended: true, Idle: true, MaxSamples: 1000, Budget: budget}, sym, nil)
	page := store.New(1<<28, nil).Open(sessionID, nil)
	var windows []window.Window
	yield := func(w *window.Window) {
		page.Append(w, sym)
		metrics.Window(w, e.Timeline())
		profiles.Window(w, e.Timeline())
		windows = append(windows, window.Window{Start: w.Start, End: w.End, Waits: w.Waits})
		for k := range w.Waits {
			roots[k] += w.Waits[k].Time
		}
	}
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	page.Close(window.CutEnd)
	sn := page.Snapshot()
	require.Equal(t, roots, onPage(sn, math.MinInt64, math.MaxInt64), "page, %s", about)
	for i := range windows {
		w := &windows[i]
		var want times
		for k := range w.Waits {
			want[k] = w.Waits[k].Time
		}
		require.Equal(t, want, onPage(sn, w.Start, w.End), "page from %d to %d, %s", w.Start, w.End, about)
	}
	var inMetrics, inProfiles times
	metrics.Flush(nil, time.Unix(1, 0), false, func(st *contention.Statement) {
		for _, list := range [][]*contention.Series[contention.WaitKey, contention.Waits]{st.Blocked, st.Waits} {
			for _, s := range list {
				inMetrics[s.Key.Kind] += s.Value.Time
			}
		}
	})
	profiles.Flush(func(f profile.Family, samples []profile.Sample) {
		if f != profile.OffCPU { // which has all waits
			return
		}
		for i := range samples {
			inProfiles[samples[i].Wait] += samples[i].Time
		}
	})
	require.Equal(t, roots, inMetrics, "metrics, %s", about)
	inProfiles[jvmthread.WaitNone] = roots[jvmthread.WaitNone]
	require.Equal(t, roots, inProfiles, "profiles, %s", about)
	return roots
}

// onPage adds up the waits of a range.
func onPage(sn *store.Snapshot, from, to jvmthread.Time) (sum times) {
	for id := 1; id < len(sn.Threads); id++ {
		for c := sn.Walk(id, from, to); c.Next(); {
			if k := c.Wait(); k != jvmthread.WaitNone {
				sum[k] += max(0, min(c.End, to).Sub(max(c.Start, from)))
			}
		}
	}
	return sum
}
