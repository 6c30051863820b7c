// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// onGate returns the events on locks of the program, without those of the recorder.
func (c *collector) onGate(list []jvmthread.Event) (kept []jvmthread.Event) {
	for _, ev := range list {
		if c.symbols.Class(ev.Lock.Class) == "Recorded$Gate" {
			kept = append(kept, ev)
		}
	}
	return kept
}

// TestKnownCounts compares the number of events, over several chunks, with what the program counted.
func TestKnownCounts(t *testing.T) {
	t.Parallel()
	onEachJDK(t, func(t *testing.T, j jdk) {
		t.Helper()
		file, known := makeRecording(t, j, "20", "3")
		c := readFile(t, file)
		assert.Empty(t, c.problems)
		require.Len(t, c.sessions, 1, "three chunks are one session")
		require.Len(t, c.ends, 1)
		assert.Contains(t, c.sessions[0].Thresholds, "jdk.JavaMonitorEnter: 0 s")
		assert.Contains(t, c.sessions[0].Thresholds, "jdk.ThreadStart: all")

		waits := c.of(known.Waiter, jvmthread.KindWait)
		waited := c.of(known.Waiter, jvmthread.KindWaited)
		assert.Len(t, waits, known.Rounds+1)
		require.Len(t, waited, known.Rounds+1)
		assert.Equal(t, "Recorded$Queue", c.symbols.Class(waits[0].Lock.Class))
		assert.Equal(t, int64(5e6), waits[known.Rounds].Arg, "the timeout is in nanoseconds")
		for i, ev := range waited[:known.Rounds] {
			assert.EqualValues(t, known.Main, ev.Peer, "wait %d was notified by main", i)
			assert.Zero(t, ev.Flags)
		}
		assert.Equal(t, jvmthread.FlagTimedOut, waited[known.Rounds].Flags)
		assert.Len(t, c.of(known.Waiter, jvmthread.KindWaitReturned), known.Rounds+1)
		assert.Len(t, c.of(known.Parker, jvmthread.KindPark), known.Rounds)
		assert.Len(t, c.of(known.Parker, jvmthread.KindUnparked), known.Rounds)
		assert.Len(t, c.of(known.Sleeper, jvmthread.KindSleepStart), known.Rounds)
		assert.Len(t, c.of(known.Main, jvmthread.KindSleepStart), known.MainSleeps)
		for _, ev := range c.of(known.Sleeper, jvmthread.KindSleepStart) {
			assert.Equal(t, int64(2e6), ev.Arg)
		}
		checkBlocked(t, c, known)
		checkPatient(t, c, known)
		if j.major >= 24 {
			assert.Len(t, c.of(known.Main, jvmthread.KindNotify), known.Rounds)
			assert.Len(t, c.of(known.Main, jvmthread.KindNotifyAll), 1)
		}
	})
}

func checkBlocked(t *testing.T, c *collector, known truth) {
	t.Helper()
	entered := c.onGate(c.of(0, jvmthread.KindContendedEntered)) // the recorder has its own locks
	assert.Len(t, entered, known.Rounds)
	for i, ev := range entered {
		assert.EqualValues(t, known.Main, ev.Peer, "handoff %d is from main", i)
		th := c.threads[ev.Thread]
		assert.Contains(t, th.Name, "blocked-")
		assert.Equal(t, "main", th.Group)
	}
	for i, ev := range c.onGate(c.of(0, jvmthread.KindContendedEnter)) {
		assert.Contains(t, c.symbols.Stack(ev.Stack), "at Recorded.enter(:", "stack of %d", i)
		code := c.symbols.Code(ev.Stack)
		descriptor, index, ok := code.Next()
		assert.True(t, ok)
		assert.Equal(t, "(LRecorded$Gate;)V", descriptor)
		assert.EqualValues(t, 4, index, "HotSpot records the place after monitorenter, which is at 3")
	}
	starts := 0
	for _, ev := range c.of(0, jvmthread.KindThreadStart) {
		if int64(ev.Peer) == known.Main && c.threads[ev.Thread].Name != "" {
			starts++
		}
	}
	assert.GreaterOrEqual(t, starts, known.Rounds+4, "each thread was started by main")
	assert.Len(t, c.of(0, jvmthread.KindThreadEnd), known.Rounds+4)
}

// checkPatient checks the wait that spans all chunks: it begins in the first one and is recorded in the last one.
func checkPatient(t *testing.T, c *collector, known truth) {
	t.Helper()
	wait := c.of(known.Patient, jvmthread.KindWait)
	waited := c.of(known.Patient, jvmthread.KindWaited)
	require.Len(t, wait, 1)
	require.Len(t, waited, 1)
	first := c.onGate(c.of(0, jvmthread.KindContendedEnter))[0]
	last := c.onGate(c.of(0, jvmthread.KindContendedEntered))[known.Rounds-1]
	assert.Less(t, wait[0].Time, first.Time)
	assert.Greater(t, waited[0].Time, last.Time)
	assert.EqualValues(t, known.Main, waited[0].Peer)
}
