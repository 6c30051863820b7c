// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Windows end at the session's phase, whenever it started, and also where many without an event are one.
func TestWindowsHaveAPhase(t *testing.T) {
	second := jvmthread.Time(time.Second)
	cfg := engine.DefaultConfig()
	cfg.Phase = 3 * second
	e := drive.New(cfg, nil)
	var ends []jvmthread.Time
	yield := func(w *window.Window) { ends = append(ends, w.End/second) }
	var events []jvmthread.Event
	for _, at := range []jvmthread.Time{101, 112, 114, 2005} {
		events = append(events,
			jvmthread.Event{Time: at * second, Thread: 1, Kind: jvmthread.KindSleepStart},
			jvmthread.Event{Time: at*second + 1, Thread: 1, Kind: jvmthread.KindSleepEnd})
	}
	e.Batch(events, 0, 2014*second, yield)
	var want []jvmthread.Time
	for end := jvmthread.Time(103); end <= 753; end += 10 { // the 64 after 113 have no event
		want = append(want, end)
	}
	if want = append(want, 2003, 2013); !slices.Equal(ends, want) {
		t.Errorf("windows end at %v s, want %v", ends, want)
	}
}

// A collector that stops processes events beyond the watermark, but opens no window there: the next one opens it, with the same IDs, if the
// session continues before its start.
func TestStopOpensNoWindowBeyondTheWatermark(t *testing.T) {
	second := jvmthread.Time(time.Second)
	for why, want := range map[window.Cut][]jvmthread.Time{
		window.CutShutdown: {101 * second}, window.CutLost: {101 * second}, window.CutEnd: {101 * second, 110 * second},
	} {
		e := drive.New(engine.DefaultConfig(), nil)
		var starts []jvmthread.Time
		yield := func(w *window.Window) {
			for _, err := range threadtest.Validate(w) {
				t.Error(err)
			}
			starts = append(starts, w.Start)
		}
		e.Add(ordering.Batch{Number: 1, Watermark: 109 * second, Events: []jvmthread.Event{
			{Time: 101 * second, Thread: 1, Kind: jvmthread.KindSleepStart},
			{Time: 111 * second, Thread: 1, Kind: jvmthread.KindSleepEnd},
		}})
		e.Advance(yield)
		e.Close(jvmthread.NoTime, why, yield)
		if !slices.Equal(starts, want) {
			t.Errorf("%s: windows start at %v, want %v", why, starts, want)
		}
	}
}

// A system call that is seen 30 ms after it began is one wait in all windows, however short they are.
func TestSystemCallsInShortWindows(t *testing.T) {
	const ms = jvmthread.Time(time.Millisecond)
	sums := make(map[window.Totals][]time.Duration)
	for length := 10 * time.Millisecond; length <= time.Second; length += 7 * time.Millisecond {
		cfg := engine.DefaultConfig()
		cfg.Window = length
		e := drive.New(cfg, nil)
		var all window.Totals
		yield := func(w *window.Window) {
			for _, err := range threadtest.Validate(w) {
				t.Error(err)
			}
			for state := range all {
				all[state].Time += w.Totals[state].Time
			}
		}
		events := []jvmthread.Event{{Time: 0, Thread: 1, Kind: jvmthread.KindThreadStart}}
		for at := 100 * ms; at < 900*ms; at += 100 * ms {
			events = append(events,
				jvmthread.Event{Time: at, Thread: 1, Kind: jvmthread.KindPark, Flags: jvmthread.FlagSnapshot | jvmthread.FlagSystemCall, Arg: int64(30 * ms)},
				jvmthread.Event{Time: at + 20*ms, Thread: 1, Kind: jvmthread.KindUnparked, Flags: jvmthread.FlagSnapshot | jvmthread.FlagSystemCall})
		}
		for i, ev := range events {
			e.Batch(events[i:i+1], 0, ev.Time+1, yield)
		}
		e.Close(1000*ms, window.CutEnd, yield)
		sums[all] = append(sums[all], length)
	}
	want := window.Totals{}
	want[jvmthread.StateParked].Time, want[jvmthread.StateRunnable].Time = 400*time.Millisecond, 600*time.Millisecond
	if len(sums) != 1 || len(sums[want]) == 0 {
		t.Errorf("the sums depend on the length of windows: %v", sums)
	}
}
