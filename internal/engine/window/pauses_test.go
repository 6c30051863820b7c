// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A thread that seems to run stands still in pauses of the JVM; one that waits, waits.
func TestPieces(t *testing.T) {
	at := func(start, end jvmthread.Time, wait jvmthread.Wait) jvmthread.Interval {
		return jvmthread.Interval{Start: start, End: end, Seq: 1, State: jvmthread.StateParked, Wait: wait}
	}
	pauses := slices.Values([]jvmthread.Interval{
		at(0, 10, jvmthread.WaitPause), at(10, 20, jvmthread.WaitNone), at(20, 30, jvmthread.WaitPause), at(30, 40, jvmthread.WaitPause), at(50, 99, jvmthread.WaitPause),
	})
	pieces := func(iv jvmthread.Interval, from, to jvmthread.Time) (out [][3]jvmthread.Time) {
		for p := range window.Pieces(&iv, from, to, pauses) {
			stopped := jvmthread.Time(0)
			if p.Stopped {
				stopped = 1
			}
			assert.Equal(t, p.Stopped, p.Interval.Wait == jvmthread.WaitPause)
			out = append(out, [3]jvmthread.Time{p.Start, p.End, stopped})
		}
		return out
	}
	run := jvmthread.Interval{Start: 5, End: 60, Seq: 1, State: jvmthread.StateRunnable}
	assert.Equal(t, [][3]jvmthread.Time{{5, 10, 1}, {10, 20, 0}, {20, 30, 1}, {30, 40, 1}, {40, 50, 0}, {50, 60, 1}}, pieces(run, 0, 100))
	assert.Equal(t, [][3]jvmthread.Time{{25, 30, 1}, {30, 35, 1}}, pieces(run, 25, 35))
	assert.Equal(t, [][3]jvmthread.Time{{12, 18, 0}}, pieces(run, 12, 18))
	assert.Empty(t, pieces(run, 60, 70))
	assert.Equal(t, [][3]jvmthread.Time{{5, 60, 0}}, pieces(at(5, 60, jvmthread.WaitSleep), 0, 100))
}
