// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// A full window is cut early and loses nothing. Events are refused, and counted, only if time does not advance and the window reaches twice
// its limit.
func TestFullWindows(t *testing.T) {
	const limit, sleeps = 100, 1000
	for _, tt := range []struct {
		name        string
		step        jvmthread.Time
		refusedSome bool
	}{{"time advances", 1, false}, {"time does not advance", 0, true}} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := engine.DefaultConfig()
			cfg.Window, cfg.Limits = time.Hour, window.Limits{Intervals: limit}
			e := drive.New(cfg, nil)
			at := jvmthread.Time(1_700_000_000_000_000_000)
			evs := []jvmthread.Event{{Time: at, Thread: 1, Kind: jvmthread.KindThreadStart}}
			for range sleeps {
				evs = append(evs, jvmthread.Event{Time: at, Thread: 1, Kind: jvmthread.KindSleepStart},
					jvmthread.Event{Time: at + tt.step, Thread: 1, Kind: jvmthread.KindSleepEnd})
				at += 2 * tt.step
			}
			e.Add(batchOf(1, 0, evs, at+1))
			seen, most := uint64(0), 0
			check := func(w *window.Window) {
				for _, err := range threadtest.Validate(w) {
					t.Error(err)
				}
				seen += w.Events
				for _, l := range w.Lanes {
					most = max(most, l.Intervals.Len())
				}
			}
			e.Advance(check)
			e.Close(jvmthread.NoTime, window.CutEnd, check)
			refused := e.Counters().Refused
			if seen+refused != uint64(len(evs)) || (refused > 0) != tt.refusedSome || most > 2*limit+1 {
				t.Errorf("%d events: %d seen, %d refused, up to %d intervals in a window", len(evs), seen, refused, most)
			}
		})
	}
}

// Events that begin no interval also fill a window: watchers store them until it is cut.
func TestEventsFillWindows(t *testing.T) {
	const limit, notifies = 100, 5000
	for _, step := range []jvmthread.Time{0, 1} {
		cfg := engine.DefaultConfig()
		cfg.Window, cfg.Limits = time.Hour, window.Limits{Intervals: limit}
		e := drive.New(cfg, nil)
		at := jvmthread.Time(1_700_000_000_000_000_000)
		evs := []jvmthread.Event{{Time: at, Thread: 1, Kind: jvmthread.KindThreadStart}}
		for range notifies {
			at += step
			evs = append(evs, jvmthread.Event{Time: at, Thread: 1, Kind: jvmthread.KindNotify, Lock: jvmthread.LockID{Hash: 7}})
		}
		e.Add(batchOf(1, 0, evs, at+1))
		seen, most := uint64(0), uint64(0)
		check := func(w *window.Window) {
			for _, err := range threadtest.Validate(w) {
				t.Error(err)
			}
			seen, most = seen+w.Events, max(most, w.Events)
		}
		e.Advance(check)
		e.Close(jvmthread.NoTime, window.CutEnd, check)
		refused := e.Counters().Refused
		if seen+refused != uint64(len(evs)) || (refused > 0) != (step == 0) || most > 8*limit {
			t.Errorf("%d events: %d seen, %d refused, up to %d in a window", len(evs), seen, refused, most)
		}
	}
}

// The last window states why the session ended, even if nothing happened since the previous one.
func TestLastWindowStatesReason(t *testing.T) {
	const second = jvmthread.Time(time.Second)
	for _, why := range []window.Cut{window.CutEnd, window.CutLost, window.CutShutdown} {
		cfg := engine.DefaultConfig()
		cfg.Window = time.Second
		e := drive.New(cfg, nil)
		e.Add(batchOf(1, 0, []jvmthread.Event{
			{Time: 100 * second, Thread: 1, Kind: jvmthread.KindThreadStart},
			{Time: 100*second + 5, Thread: 1, Kind: jvmthread.KindThreadEnd},
		}, 102*second+7))
		var cuts []window.Cut
		last := jvmthread.Time(0)
		see := func(w *window.Window) {
			for _, err := range threadtest.Validate(w) {
				t.Error(err)
			}
			cuts, last = append(cuts, w.Cut), w.End
		}
		e.Advance(see)
		e.Close(jvmthread.NoTime, why, see)
		if want := []window.Cut{window.CutTime, why}; !slices.Equal(cuts, want) || last != 102*second+7 {
			t.Errorf("cuts %v, want %v; the last window ends at %d", cuts, want, last)
		}
	}
}
