// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// A contention that becomes a deadlock is one of the longest blocked times, with its whole length, and so is one that continues after another
// thread has left the deadlock.
func TestDeadlockIsOneBlockedTime(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	class := sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync")
	const s = jvmthread.Time(time.Second)
	event := func(at jvmthread.Time, thread, peer jvmthread.ThreadID, kind jvmthread.Kind, hash uint32) jvmthread.Event {
		return jvmthread.Event{Time: at, Thread: thread, Peer: peer, Kind: kind, Lock: jvmthread.LockID{Class: class, Hash: hash}}
	}
	c := newCollection()
	p := replay.NewPlayer(sym, "test", &player{collection: c})
	require.NoError(t, p.Session(&recording.Session{ID: jvmthread.SessionID{1}}))
	require.NoError(t, p.Batch(&recording.Batch{Watermark: 60 * s, Events: []jvmthread.Event{
		event(1*s, 1, 2, jvmthread.KindPark, 2),
		event(2*s, 2, 1, jvmthread.KindPark, 1),
		{Time: 24 * s, Thread: 3, Peer: 1, Kind: jvmthread.KindInterruptCalled},
		{Time: 25 * s, Thread: 1, Kind: jvmthread.KindUnparked},
		{Time: 26 * s, Thread: 1, Peer: 2, Kind: jvmthread.KindUnpark},
		{Time: 27 * s, Thread: 2, Kind: jvmthread.KindUnparked},
	}}))
	require.NoError(t, p.End(recording.End{}))
	sum := c.summary()
	lengths := []time.Duration{}
	for _, b := range sum.Longest {
		lengths = append(lengths, b.Time)
	}
	assert.Equal(t, []time.Duration{25 * time.Second, 24 * time.Second}, lengths)
	require.Len(t, sum.Objects, 1)
	assert.EqualValues(t, 2, sum.Objects[0].Contentions)
	require.Len(t, sum.Locks, 1)
	assert.EqualValues(t, 2, sum.Locks[0].Contentions)
	assert.Equal(t, 49*time.Second, sum.Locks[0].Blocked)
}
