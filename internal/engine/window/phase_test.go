// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// The windows of a thousand sessions end evenly: in no hundredth of a window do many more end than in others.
func TestPhasesAreSpreadEvenly(t *testing.T) {
	const sessions, parts = 10_000, 100
	ends := make(map[int64]int)
	for i := range uint64(sessions) {
		var id jvmthread.SessionID
		binary.BigEndian.PutUint64(id[8:], i)
		phase := window.Phase(id, 10*time.Second)
		assert.Less(t, phase, jvmthread.Time(10*time.Second))
		assert.Equal(t, phase%jvmthread.Time(time.Second), window.Phase(id, time.Second), "windows of 10 s end where windows of 1 s do")
		ends[int64(phase)*parts/int64(10*time.Second)]++
	}
	for part, n := range ends {
		assert.InDelta(t, sessions/parts, n, sessions/parts/2, "part %d", part)
	}
}

func TestPhaseOfTests(t *testing.T) {
	assert.Zero(t, window.Phase(jvmthread.SessionID{1, 2, 3, 4, 5, 6, 7, 8}, time.Minute))
	assert.Zero(t, window.Phase(jvmthread.SessionID{1, 15: 9}, 0), "no windows")
}

func TestSince(t *testing.T) {
	for _, c := range []struct{ at, phase, want jvmthread.Time }{
		{0, 0, 0}, {9, 0, 9}, {10, 0, 0}, {3, 3, 0}, {2, 3, 9}, {12, 3, 9}, {13, 3, 0}, {-1, 0, 9}, {-8, 3, 9},
	} {
		assert.Equal(t, c.want, window.Since(c.at, 10, c.phase), "at %d, phase %d", c.at, c.phase)
	}
}
