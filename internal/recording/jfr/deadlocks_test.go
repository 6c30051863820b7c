// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The worker, whose last event is before the first report, and two threads without events wait for each other.
func TestDeadlocksThatATracerFound(t *testing.T) {
	b := newBuilder(true)
	c := readBytes(t, b.chunk(func(b *builder) {
		b.enter(100, 400)
		for _, at := range []int64{2000, 4000} {
			b.deadlocked(at, 17, "worker", "com.acme.Till@1b", 31, "bob", "com.acme.Book.sell#42")
			b.deadlocked(at, 31, "bob", "java.util.concurrent.locks.ReentrantLock$NonfairSync@2c", 17, "worker", "com.acme.Till.pay#-2")
			b.deadlocked(at, 0, "", "", 0, "", "")
		}
	}))
	assert.Empty(t, c.problems)
	start := jvmthread.Time(b.nanos)
	worker, bob := c.of(17, jvmthread.KindContendedEnter), c.of(31, jvmthread.KindPark)
	require.Len(t, worker, 2)
	require.Len(t, bob, 1)
	assert.Equal(t, start+1000, worker[1].Time)
	assert.EqualValues(t, 31, worker[1].Peer)
	assert.EqualValues(t, 0x1b, worker[1].Lock.Hash)
	assert.Equal(t, "com.acme.Till", c.symbols.Class(worker[1].Lock.Class))
	assert.Contains(t, c.symbols.Stack(worker[1].Stack), "com.acme.Till.pay")
	assert.Equal(t, start+1000, bob[0].Time)
	assert.EqualValues(t, 17, bob[0].Peer)
	assert.Contains(t, c.symbols.Stack(bob[0].Stack), "com.acme.Book.sell(:42)")
	assert.Equal(t, "bob", c.threads[31].Name)
}

// A thread with a later event than the last report was not in a deadlock that lasts.
func TestDeadlockThatEnds(t *testing.T) {
	c := readBytes(t, newBuilder(true).chunk(func(b *builder) {
		b.deadlocked(2000, 17, "worker", "com.acme.Till@1b", 31, "bob", "")
		b.enter(3000, 400)
	}))
	assert.Len(t, c.of(17, jvmthread.KindContendedEnter), 1)
}
