// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// parse returns the batch of a frame.
func parse(t *testing.T, frame []byte) ordering.Batch {
	t.Helper()
	f, err := wire.NewReader(bytes.NewReader(frame), wire.MaxFrame).Next()
	require.NoError(t, err)
	b, err := f.Batch()
	require.NoError(t, err)
	out := ordering.Batch{Number: b.Sequence, Watermark: b.Watermark, Before: b.Before}
	for b.More() {
		_, out.Events, err = b.Section(out.Events)
		require.NoError(t, err)
	}
	return out
}

// The engine finds a consistent history: blocked threads wait for the one before them, and waits end by the notify of the neighbour.
func TestLoadIsAConsistentHistory(t *testing.T) {
	few, many := JVM(), JVM()
	many.Threads, many.Locks, many.Classes = 500, 300, 300
	for name, s := range map[string]Shape{"50 threads": few, "500 threads": many} {
		t.Run(name, func(t *testing.T) {
			e := drive.New(engine.DefaultConfig(), nil)
			var sums window.Totals
			links, events := make(map[jvmthread.InteractionKind]int), uint64(0)
			yield := func(w *window.Window) {
				assert.Empty(t, threadtest.Validate(w))
				for state, sum := range w.Totals {
					sums[state].Count += sum.Count
				}
				for ia := range w.Interactions() {
					links[ia.Kind]++
				}
				events += w.Events
			}
			all := s.Batches(100_000)
			var last jvmthread.Time
			sent := make(map[jvmthread.Kind]int)
			for _, b := range all {
				batch := parse(t, b.Frame)
				for i := range batch.Events {
					sent[batch.Events[i].Kind]++
				}
				assert.True(t, e.Add(batch))
				last = max(last, batch.Watermark)
				e.Advance(yield)
			}
			e.Close(jvmthread.NoTime, window.CutEnd, yield)

			assert.Equal(t, engine.Counters{}, e.Counters())
			assert.Zero(t, e.Ordering())
			assert.Equal(t, uint64(Total(all)), events)
			due := s.Rate * int(last-Beginning) / int(time.Second)
			assert.True(t, int(events) <= due && due <= int(events)+s.Threads*perRound, "%d events, less a round of each thread, but %d", due, events)
			for state, begins := range map[jvmthread.State]jvmthread.Kind{
				jvmthread.StateBlocked: jvmthread.KindContendedEnter, jvmthread.StateSleeping: jvmthread.KindSleepStart, jvmthread.StateWaiting: jvmthread.KindWait,
			} {
				assert.EqualValues(t, sent[begins], sums[state].Count, state)
			}
			assert.Equal(t, sent[jvmthread.KindWaited], links[jvmthread.InteractionNotify])
			assert.Equal(t, sent[jvmthread.KindContendedEntered]+sent[jvmthread.KindWaitReturned], links[jvmthread.InteractionHandoff])
		})
	}
}

// Each stack that events refer to has the depth of real ones, and no further stack is defined.
func TestDefinitionsCoverTheLoad(t *testing.T) {
	s := JVM()
	r := wire.NewReader(bytes.NewReader(s.Hello(&Run{Session: jvmthread.SessionID{1}, Began: time.Unix(1, 0)}, 0)), wire.MaxFrame)
	_, err := r.Preamble()
	require.NoError(t, err)
	sym := symbols.New(symbols.DefaultLimits())
	known := definitions.New(sym)
	frame, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, wire.FrameHello, frame.Kind)
	for frame, err = r.Next(); err == nil; frame, err = r.Next() {
		refused, err := known.Define(frame)
		require.NoError(t, err)
		assert.False(t, refused)
	}
	require.ErrorIs(t, err, io.EOF)
	used := make(map[jvmthread.StackID]bool)
	for n := range 1000 {
		for _, ev := range s.round(nil, n%s.Threads, n) {
			if ev.Stack != jvmthread.NoStack && !used[ev.Stack] {
				used[ev.Stack] = true
				assert.True(t, known.Resolve(&ev.Lock.Class, &ev.Stack))
				assert.Equal(t, stackDepth-1, strings.Count(sym.Stack(ev.Stack), "\n"))
			}
		}
	}
	assert.Len(t, used, 4*sites)
}
