// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// A thread with many intervals has all of them in order, in windows of growing and shrinking size.
func TestLanesOfManyIntervals(t *testing.T) {
	cfg := engine.DefaultConfig()
	cfg.Window = time.Second
	e := drive.New(cfg, nil)
	sizes := []int{10, 5000, 6000, 20_000, 300, 1030, 1100}
	var events []jvmthread.Event
	for i, n := range sizes {
		at := jvmthread.Time(i) * jvmthread.Time(time.Second)
		for k := range n {
			at += 10
			events = append(events, jvmthread.Event{Kind: jvmthread.KindSleepStart, Thread: 1, Time: at, Arg: int64(k)})
			at += 20
			events = append(events, jvmthread.Event{Kind: jvmthread.KindSleepEnd, Thread: 1, Time: at})
		}
	}
	e.Add(ordering.Batch{Number: 1, Watermark: events[len(events)-1].Time + 1, Events: events})
	windows := 0
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		intervals := &w.Lanes[0].Intervals
		if have, want := intervals.Len(), 2*sizes[windows]+1; have != want {
			t.Errorf("window %d: %d intervals, want %d", windows, have, want)
		}
		for i := 1; i < intervals.Len(); i++ {
			if iv, before := intervals.At(i), intervals.At(i-1); iv.Start != before.End || iv.Seq != before.Seq+1 {
				t.Fatalf("window %d: %+v does not continue %+v", windows, iv, before)
			}
		}
		windows++
	})
	if windows != len(sizes) {
		t.Errorf("%d windows, want %d", windows, len(sizes))
	}
}
