// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// collector is a sink that stores the output of a decoder and checks the contract of recording.Sink.
type collector struct {
	t         testing.TB
	symbols   *symbols.Table
	sessions  []recording.Session
	events    []jvmthread.Event
	threads   map[jvmthread.ThreadID]jvmthread.Thread
	problems  []recording.Problem
	ends      []recording.End
	watermark jvmthread.Time
	last      jvmthread.Time
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	return &collector{t: t, symbols: symbols.New(symbols.DefaultLimits()), threads: make(map[jvmthread.ThreadID]jvmthread.Thread)}
}

func (c *collector) Session(s *recording.Session) error {
	assert.NotZero(c.t, s.ID[0])
	c.sessions = append(c.sessions, *s)
	c.watermark, c.last = -1<<63, -1<<63
	return nil
}

func (c *collector) Batch(b *recording.Batch) error {
	if len(c.sessions) == 0 {
		c.t.Error("batch before the session")
	}
	for _, th := range b.Threads {
		c.threads[th.ID] = th
	}
	for i := range b.Events {
		ev := &b.Events[i]
		if ev.Time < c.watermark || ev.Time < c.last {
			c.t.Errorf("event %v at %d is earlier than the watermark %d or the previous event at %d", ev.Kind, ev.Time, c.watermark, c.last)
		}
		c.last = ev.Time
		if _, ok := c.threads[ev.Thread]; !ok && c.symbols.Thread(ev.Thread) != (jvmthread.Thread{ID: ev.Thread}) {
			c.t.Errorf("undefined thread %d", ev.Thread)
		}
	}
	if b.Watermark < c.watermark {
		c.t.Errorf("watermark decreases from %d to %d", c.watermark, b.Watermark)
	}
	c.watermark = b.Watermark
	c.events = append(c.events, b.Events...)
	return nil
}

func (c *collector) Problem(p recording.Problem) error {
	assert.NotEmpty(c.t, p.What)
	c.problems = append(c.problems, p)
	return nil
}

func (c *collector) End(e recording.End) error {
	c.ends = append(c.ends, e)
	return nil
}

// of returns the events of a kind on a thread.
func (c *collector) of(thread int64, kinds ...jvmthread.Kind) (list []jvmthread.Event) {
	for _, ev := range c.events {
		for _, kind := range kinds {
			if ev.Kind == kind && (thread == 0 || ev.Thread == jvmthread.ThreadID(thread)) {
				list = append(list, ev)
			}
		}
	}
	return list
}

// recorded returns the events that are in the recording: all but the gaps after the last events of the threads, which only a complete recording
// has. TestSilence checks those.
func (c *collector) recorded() (list []jvmthread.Event) {
	for i := range c.events {
		if c.events[i].Kind != jvmthread.KindGap {
			list = append(list, c.events[i])
		}
	}
	return list
}

// onGate returns the events on locks of the program, without those of the recorder.
func (c *collector) onGate(list []jvmthread.Event) (kept []jvmthread.Event) {
	for _, ev := range list {
		if c.symbols.Class(ev.Lock.Class) == "Recorded$Gate" {
			kept = append(kept, ev)
		}
	}
	return kept
}

// readFile reads a recording from a file, like the receiver.
func readFile(t testing.TB, name string) *collector {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	c := newCollector(t)
	d := NewDecoder(recording.Options{File: name, Symbols: c.symbols}, c)
	_, err = io.Copy(d, f)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	assert.EqualValues(t, len(c.events), d.Stats().Events)
	return c
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
