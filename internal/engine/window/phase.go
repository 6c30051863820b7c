// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"encoding/binary"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Phase is by how much the windows of a session start after the multiples of their length since the epoch. It spreads the windows of many
// sessions evenly over time, because each costs most when it ends. It follows from the session's ID, so that all components and collectors
// that follow a session cut the same windows, also after a restart. Windows of a length start where some of those of each divisor do. An ID
// that ends in eight zeros, as those of tests do, has phase 0.
func Phase(id jvmthread.SessionID, length time.Duration) jvmthread.Time {
	if length <= 0 {
		return 0
	}
	h := binary.BigEndian.Uint64(id[8:]) // random, but not everywhere: IDs of a recording may count up
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9 // the finalizer of splitmix64
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	h ^= h >> 31
	return jvmthread.Time(h % uint64(length))
}

// Since returns for how long a window of the given length and phase has lasted at a time, if it was not cut early: 0 at its start.
func Since(at, length, phase jvmthread.Time) jvmthread.Time {
	rest := at%length - phase
	for rest < 0 {
		rest += length
	}
	return rest
}
