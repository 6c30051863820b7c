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
	lost      uint64
	unknown   uint64 // of Stats, when the recording is closed
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
	c.lost += b.Lost
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

// nothing is a sink that discards everything.
type nothing struct{}

func (nothing) Session(*recording.Session) error { return nil }
func (nothing) Batch(*recording.Batch) error     { return nil }
func (nothing) Problem(recording.Problem) error  { return nil }
func (nothing) End(recording.End) error          { return nil }
