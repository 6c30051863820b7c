// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// With a span for each interval, all waits are as they were, across windows, and so is the blocked time of each class to the nanosecond.
// Threads have names that occur once, as most do: so owners are as they were.
func TestWaitsAreThoseOfTheEvents(t *testing.T) {
	for seed := range uint64(40) {
		stretch := []jvmthread.Time{1, 1000, 1_000_000}[seed%3] // up to 20 windows
		events, sym := recorded(seed, 1500, stretch)
		for id := range jvmthread.ThreadID(20) {
			th := sym.Thread(id)
			th.Name = fmt.Sprintf("worker-%d", id)
			sym.SetThread(th)
		}
		id := jvmthread.SessionID{byte(seed + 1)}
		want := newAnalyzed(t, id, sym)
		want.analyze(events)
		require.NotEmpty(t, want.waits)

		sink := read(t, recording.Options{}, spansOf(t, id, events, sym))
		require.Empty(t, sink.problems)
		got := sink.found[id]
		require.NotNil(t, got)
		what := fmt.Sprintf("seed %d: ", seed)
		sameLines(t, want.lines(), got.lines(), what+"waits")
		for key, w := range want.waits {
			assert.Equal(t, w.owner, got.waits[key].owner, "%sowner of %v", what, key)
		}
		assert.Equal(t, want.blocked, got.blocked, what)
		sameLines(t, keys(want.causes), both(keys(want.causes), keys(got.causes)), what+"causes")
		assert.InDelta(t, len(want.causes), len(got.causes), 2, "%sa handoff may be inferred in place of one that is unknown", what)
		if t.Failed() {
			return
		}
	}
}

func keys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// both returns what is in both lists.
func both(a, b []string) []string { return minus(a, minus(a, b)) }

// Names that several threads have leave some owners unknown, and nothing else.
func TestNamesOfSeveralThreads(t *testing.T) {
	for seed := range uint64(20) {
		events, sym := recorded(seed, 1500, 1000)
		id := jvmthread.SessionID{byte(seed + 1)}
		want := newAnalyzed(t, id, sym)
		want.analyze(events)
		got := read(t, recording.Options{}, spansOf(t, id, events, sym)).found[id]
		sameLines(t, want.lines(), got.lines(), fmt.Sprintf("seed %d", seed))
		assert.Equal(t, want.blocked, got.blocked, "seed %d", seed)
	}
}

// lost are the waits of the engine's examples that spans do not show: who suspended a thread, and which virtual threads were ready to run
// without another thread.
var lost = map[string][]string{
	"suspend":       {"thread 1 suspended 20 to 40", "thread 1 suspended 60 to 65"},
	"virtual-exact": {"thread 3 queued 50 to 61", "thread 4 queued 30 to 42"},
}

// All examples of what the engine understands come out of their spans as they went in: deadlocks, gaps, snapshots, virtual threads.
func TestExamplesOfTheEngine(t *testing.T) {
	golden.Each(t, "../../engine/testdata/*.txt", func(t *testing.T, file string) {
		t.Helper()
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		_, bodies := golden.Read(t, file)
		h, err := threadtest.Parse(bodies["events"])
		require.NoError(t, err)
		batch := recording.Batch{Events: h.Events}
		if strings.HasPrefix(name, "single-ended-") {
			new(recording.WaitCompleter).Complete(&batch)
		}
		for i := range batch.Events {
			batch.Events[i].Time = began + 1000*batch.Events[i].Time
		}
		last := batch.Events[len(batch.Events)-1].Time // whether a thread ended in the last microsecond is not known
		batch.Events = append(batch.Events, jvmthread.Event{Kind: jvmthread.KindThreadStart, Thread: 99, Time: last + 5000})
		id := jvmthread.SessionID{7}
		want := newAnalyzed(t, id, h.Symbols())
		want.analyze(batch.Events)
		sink := read(t, recording.Options{}, spansOf(t, id, batch.Events, h.Symbols()))
		if name == "virtual-exact" {
			require.Len(t, sink.problems, 1)
			assert.Contains(t, sink.problems[0].What, "waits for a carrier that no thread is known to have begun: 2")
		} else {
			require.Empty(t, sink.problems)
		}
		got := sink.found[id]
		require.NotNil(t, got)
		var missing []string
		for _, line := range minus(want.lines(), got.lines()) {
			missing = append(missing, shortTimes(line))
		}
		assert.Equal(t, lost[name], missing)
		for _, line := range minus(got.lines(), want.lines()) {
			assert.Contains(t, line, " reentering ", "is not in the original")
		}
	})
}

// shortTimes leaves thread, state and times of a line, in microseconds since the start.
func shortTimes(line string) string {
	var thread int
	var state string
	var from, to int64
	if _, err := fmt.Sscanf(line, "thread %d %s %d to %d", &thread, &state, &from, &to); err != nil {
		return line
	}
	return fmt.Sprintf("thread %d %s %d to %d", thread, state, (from-int64(began))/1000, (to-int64(began))/1000)
}
