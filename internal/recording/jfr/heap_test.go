// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/recording"
)

// TestMemoryDoesNotGrowWithTheRecording checks that a recording 50 times as large needs at most one more megabyte of memory.
func TestMemoryDoesNotGrowWithTheRecording(t *testing.T) {
	held := func(chunks int64) uint64 {
		source := newEndless(chunks)
		d := NewDecoder(recording.Options{}, nothing{})
		require.NoError(t, d.whole(source, source.size()))
		const gap = 1 // after the last event
		assert.EqualValues(t, chunks*1500+gap, d.Stats().Events)
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		runtime.KeepAlive(d)
		return stats.HeapAlloc
	}
	few := held(2)
	assert.Less(t, held(100), few+1<<20)
}
