// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
)

// history is what the engine finds in a recording of an agent.
type history struct {
	symbols   *symbols.Table
	events    []jvmthread.Event // in the order of time
	intervals map[jvmthread.ThreadID][]jvmthread.Interval
	causes    map[jvmthread.IntervalRef][]jvmthread.Interaction // by the interval that they ended
	deadlocks []deadlock.Found
}

// recordHistory runs a program with a recording, and the engine on it.
func recordHistory(t *testing.T, j jdk, virtual string, truth any, command ...string) *history {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.weft")
	runJava(t, j, "file://"+file, "history,virtual="+virtual, truth, command...)
	return readHistory(t, file)
}

func readHistory(t *testing.T, file string) *history {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	h := &history{
		symbols: symbols.New(symbols.DefaultLimits()), intervals: map[jvmthread.ThreadID][]jvmthread.Interval{},
		causes: map[jvmthread.IntervalRef][]jvmthread.Interaction{},
	}
	format := native.Format()
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: h.symbols}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)
	h.events = got.Events
	slices.SortStableFunc(h.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	cfg := engine.DefaultConfig()
	cfg.Window = time.Hour
	e := engine.New(cfg, h.symbols)
	h.feed(e, func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		assert.Zero(t, w.Lost+w.Missed+w.Shed, "events that are missing")
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				h.intervals[l.Thread] = append(h.intervals[l.Thread], iv)
			}
		}
		for ia := range w.Interactions() {
			h.causes[ia.To] = append(h.causes[ia.To], ia)
		}
		h.deadlocks = append(h.deadlocks, w.Deadlocks...)
	})
	return h
}

// feed gives an engine all events, in batches of a size that an agent sends.
func (h *history) feed(e *engine.Engine, yield engine.Yield) {
	const size = 10_000
	batch, before := uint64(1), 0
	for at := range h.events {
		last := at+1 == len(h.events)
		if !last && (at+1-before < size || h.events[at+1].Time == h.events[at].Time) {
			continue
		}
		e.AddBatch(batch, uint64(before), h.events[at].Time+1, h.events[before:at+1])
		e.Advance(yield)
		batch, before = batch+1, at+1
	}
	e.Close(window.CutEnd, yield)
}

func (h *history) causesOf(iv *jvmthread.Interval) []jvmthread.Interaction {
	return h.causes[jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}]
}

// jres are the JDKs with virtual threads, and a runtime of 21.
func jres(t *testing.T) (list []jdk) {
	t.Helper()
	folder := filepath.Join(root, "build", "jre")
	p := start(t, nil, filepath.Join(root, "scripts", "jres.sh"), folder, "21")
	if p.wait(t) == 0 {
		list = append(list, jdk{filepath.Join(folder, "21"), 21})
	} else {
		t.Log("NOT TESTED: no runtime of 21")
	}
	for _, j := range jdks {
		if j.major > 21 {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		t.Skip("NOT TESTED: no JDK with virtual threads; install a JDK 21 or newer")
	}
	return list
}
