// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package drive_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const second = jvmthread.Time(time.Second)

// blocked is a thread that waits for a lock, and never gets it.
var blocked = []jvmthread.Event{
	{Time: second, Thread: 1, Kind: jvmthread.KindThreadStart},
	{Time: 2 * second, Thread: 1, Kind: jvmthread.KindContendedEnter, Lock: jvmthread.LockID{Class: 1, Hash: 1}},
}

// sums is what windows add up to.
type sums struct {
	blocked        time.Duration
	events, missed uint64
	windows        int
}

func (s *sums) add(w *window.Window) {
	s.blocked += w.Totals[jvmthread.StateBlocked].Time
	s.events += w.Events
	s.missed += w.Missed
	s.windows++
}

// A wait lasts until the end of the recording, however late that is, or until the last watermark.
func TestEnd(t *testing.T) {
	for name, test := range map[string]struct {
		until, watermark jvmthread.Time
		want             time.Duration
	}{
		"end":                  {until: 30 * second, watermark: 3 * second, want: 28 * time.Second},
		"long after the event": {until: 100_000 * second, watermark: 3 * second, want: 99_998 * time.Second},
		"watermark":            {until: jvmthread.NoTime, watermark: 3 * second, want: time.Second},
		"before the watermark": {until: second, watermark: 3 * second, want: time.Second},
		"damaged":              {until: math.MaxInt64, watermark: 3 * second, want: time.Second},
		"none":                 {until: jvmthread.NoTime, watermark: second, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, got := drive.New(engine.DefaultConfig(), nil), sums{}
			s.Batch(blocked, 0, test.watermark, got.add)
			s.Close(test.until, window.CutEnd, got.add)
			assert.Equal(t, test.want, got.blocked)
			assert.EqualValues(t, len(blocked), got.events)
			assert.LessOrEqual(t, got.windows, 100)
			assert.Zero(t, s.Ordering())
		})
	}
}

// Losses that a recording states, and gaps of all threads in it, are missed events.
func TestLosses(t *testing.T) {
	s, got := drive.New(engine.DefaultConfig(), nil), sums{}
	s.Batch(blocked, 0, 3*second, got.add)
	s.Batch([]jvmthread.Event{{Time: 4 * second, Kind: jvmthread.KindGap, Arg: 5}}, 7, 5*second, got.add)
	s.Close(jvmthread.NoTime, window.CutEnd, got.add)
	assert.EqualValues(t, 12, got.missed)
	assert.EqualValues(t, len(blocked), got.events)
	assert.Equal(t, ordering.Counters{Missed: 7}, s.Ordering())
}

// A session without events has no window.
func TestNothing(t *testing.T) {
	s, got := drive.New(engine.DefaultConfig(), nil), sums{}
	s.Batch(nil, 0, second, got.add)
	s.Close(9*second, window.CutEnd, got.add)
	assert.Zero(t, got)
}
