// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// Each file in testdata contains a history of events and the expected result of the engine. The drawing above them is documentation.
func TestGoldens(t *testing.T) { golden.Each(t, "testdata/*.txt", checkGolden) }

func checkGolden(t *testing.T, file string) {
	t.Helper()
	_, bodies := golden.Read(t, file)
	h, err := threadtest.Parse(bodies["events"])
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	got := make(map[string]string)
	got[""], got["events"] = bodies[""], bodies["events"]
	batch := recording.Batch{Events: h.Events}
	if strings.HasPrefix(filepath.Base(file), "single-ended-") {
		new(recording.WaitCompleter).Complete(&batch)
	}
	runNamed(t, h.Symbols(), batch.Events, time.Hour, func(w *window.Window) {
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				got["intervals"] += h.Interval(iv) + "\n"
			}
		}
		for ia := range w.Interactions() {
			got["interactions"] += h.Interaction(ia) + "\n"
		}
		for _, hint := range w.Hints {
			got["hints"] += h.Hint(hint) + "\n"
		}
		for _, hold := range w.Holds {
			if hold.End > hold.Start {
				got["holds"] += h.Hold(hold) + "\n"
			}
		}
	})
	golden.Compare(t, file, golden.Join(sections(got), got))
}

// run feeds one batch with a part for each thread and closes the session.
func run(t testing.TB, events []jvmthread.Event, length time.Duration, yield engine.Yield) {
	t.Helper()
	runNamed(t, nil, events, length, yield)
}

// runNamed is run with names of classes, by which the engine knows what parked threads wait for.
func runNamed(t testing.TB, sym *symbols.Table, events []jvmthread.Event, length time.Duration, yield engine.Yield) {
	t.Helper()
	d := engine.DefaultConfig()
	d.Window = length
	e := drive.New(d, sym)
	check := func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		yield(w)
	}
	e.Add(batchOf(1, 0, events, lastTime(events)+1))
	e.Advance(check)
	e.Close(jvmthread.NoTime, window.CutEnd, check)
}

// sections returns the sections of a golden file. Some exist only if they have content.
func sections(got map[string]string) []string {
	list := []string{"", "events", "intervals", "interactions"}
	for _, more := range []string{"holds", "hints"} {
		if got[more] != "" {
			list = append(list, more)
		}
	}
	return list
}

func lastTime(events []jvmthread.Event) (last jvmthread.Time) {
	for _, ev := range events {
		last = max(last, ev.Time)
	}
	return last
}

// batchOf returns a batch with the events of one thread after those of another, as an agent sends them.
func batchOf(number, before uint64, events []jvmthread.Event, watermark jvmthread.Time) ordering.Batch {
	var order []jvmthread.ThreadID
	for _, ev := range events {
		if !slices.Contains(order, ev.Thread) {
			order = append(order, ev.Thread)
		}
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return slices.Index(order, a.Thread) - slices.Index(order, b.Thread) })
	return ordering.Batch{Number: number, Watermark: watermark, Before: before, Events: events}
}
