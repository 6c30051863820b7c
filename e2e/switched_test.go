// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadtest"
)

// TestInvisibleWaitsAreUnknown switches a kind of wait off while threads wait, and compares with what the program's threads do from then on:
// nothing but wait.
func TestInvisibleWaitsAreUnknown(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		for _, test := range []struct {
			options string
			unknown []string // threads whose waits are not seen
		}{
			{"mode=aggregated", []string{"wait", "notify", "park", "sleep", "hold", "block"}},
			{"wait=off", []string{"wait", "notify"}},
			{"monitor=off", []string{"block"}},
			{"park=off", []string{"park"}},
			{"sleep=off", []string{"sleep", "hold"}},
		} {
			t.Run(test.options, func(t *testing.T) { checkSwitched(t, j, test.options, test.unknown) })
		}
	})
}

func checkSwitched(t *testing.T, j jdk, options string, unknown []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "switched.weft")
	jvm := java(t, j, "file://"+file, "switched", "Switched")
	poll(t, "the threads are at work", func() bool { return jvm.counter() >= 2 })
	weft := start(t, nil, built("weft"), "attach", strconv.Itoa(jvm.cmd.Process.Pid), options)
	require.Zero(t, weft.wait(t), "exit code of weft attach")
	jvm.advance(t, 2) // the waits that were in progress have ended
	from := jvmthread.Time(time.Now().UnixNano())
	jvm.advance(t, 6)
	to := jvmthread.Time(time.Now().UnixNano())
	require.NoError(t, writeLine(jvm))
	require.Zero(t, jvm.wait(t), "exit code")
	var ids map[string]jvmthread.ThreadID
	jvm.truth(t, &ids)

	all := statesOf(t, file, from, to)
	for name, id := range ids {
		seen := all[id]
		require.NotEmpty(t, seen, "%s has no states", name)
		assert.False(t, seen[jvmthread.StateRunnable], "%s: what it does between its waits is not known: %v", name, seen)
		assert.True(t, seen[jvmthread.StateUnknown], "%s: %v", name, seen)
		assert.Equal(t, !slices.Contains(unknown, name), seen[switchedWaits[name]], "%s is seen waiting: %v", name, seen)
	}
}

// switchedWaits are the waits of the threads of the program Switched.
var switchedWaits = map[string]jvmthread.State{
	"wait": jvmthread.StateWaiting, "notify": jvmthread.StateWaiting, "park": jvmthread.StateParked, "sleep": jvmthread.StateSleeping,
	"hold": jvmthread.StateSleeping, "block": jvmthread.StateBlocked,
}

// statesOf returns the states of each thread between two times.
func statesOf(t *testing.T, file string, from, to jvmthread.Time) map[jvmthread.ThreadID]map[jvmthread.State]bool {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	format, sym := native.Format(), symbols.New(symbols.DefaultLimits())
	got, stats, err := threadtest.Decode(&format, recording.Options{File: file, Symbols: sym}, data, 0)
	threadtest.CheckDecoded(t, file, got, stats, err)
	slices.SortStableFunc(got.Events, func(a, b jvmthread.Event) int { return int(a.Time - b.Time) })
	all := map[jvmthread.ThreadID]map[jvmthread.State]bool{}
	add := func(iv jvmthread.Interval) {
		if all[iv.Thread] == nil {
			all[iv.Thread] = map[jvmthread.State]bool{}
		}
		if max(iv.Start, from) < min(iv.End, to) {
			all[iv.Thread][iv.State] = true
		}
	}
	tl := timeline.New(timeline.DefaultMaxThreads, nil)
	for i := range got.Events {
		closed, _, _ := tl.Apply(&got.Events[i])
		for _, iv := range closed {
			add(iv)
		}
	}
	for th := range tl.Threads {
		add(th.Piece(to))
	}
	return all
}
