// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// With a span for each interval, all waits are as they were, across windows, and so is the blocked time of each class to the nanosecond.
func TestWaitsAreThoseOfTheEvents(t *testing.T) {
	for seed := range uint64(40) {
		stretch := []jvmthread.Time{1, 1000, 1_000_000}[seed%3] // 0 to 20 windows
		events, sym := recorded(seed, 1500, stretch)
		id := jvmthread.SessionID{byte(seed + 1)}
		want := newAnalyzed(t, id, sym)
		want.add(events, 0, events[len(events)-1].Time)
		want.close()
		require.NotEmpty(t, want.waits)

		sink := read(t, recording.Options{}, spansOf(t, id, events, sym))
		require.Empty(t, sink.problems)
		got := sink.found[id]
		require.NotNil(t, got)
		sameLines(t, want.lines(), got.lines(), "waits")
		assert.Equal(t, want.blocked, got.blocked, "seed %d", seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
