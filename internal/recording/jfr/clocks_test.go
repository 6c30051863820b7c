// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Chunks last a second. Where ticks and wall clock of the second one contradict each other, what is nearer to the end of the first one counts.
func TestClocksOfChunksThatContradictEachOther(t *testing.T) {
	const second, hour = time.Second, time.Hour
	for name, test := range map[string]struct {
		wall, ticks, want time.Duration
		problem           string
	}{
		"agree":                {second, second, second, ""},
		"drift":                {2 * second, second + 3*second/4, second + 3*second/4, ""},
		"ticks are off":        {second, hour, second, ""},
		"the wall clock is":    {-hour, second, second, ""},
		"both, the ticks more": {hour, 2 * hour, hour, "the clocks of the chunk contradict each other and the chunk before by 59m59s or more"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(true)
			start := *b
			first := b.chunk(func(b *builder) { b.sleep(200, 600) })
			b.ticks += 2 * int64(test.ticks)
			b.nanos += int64(test.wall)
			c := readBytes(t, slices.Concat(first, b.chunk(func(b *builder) { b.sleep(200, 600) })))
			require.Len(t, c.sessions, 1)
			sleeps := c.of(0, jvmthread.KindSleepStart)
			require.Len(t, sleeps, 2)
			assert.Equal(t, jvmthread.Time(start.nanos+100+int64(test.want)), sleeps[1].Time)
			if test.problem == "" {
				assert.Empty(t, c.problems)
				return
			}
			require.Len(t, c.problems, 1)
			assert.Equal(t, test.problem, c.problems[0].What)
		})
	}
}

// Async-profiler appends its chunk, with ticks of its own, to that of the JVM.
func TestChunkOfAnotherRecorder(t *testing.T) {
	for name, test := range map[string]struct {
		events   func(*builder)
		sessions int
	}{
		"with events":    {func(b *builder) { b.sleep(200, 600) }, 2},
		"without events": {func(b *builder) { b.operate(200) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBuilder(true)
			first := b.chunk(func(b *builder) { b.sleep(200, 600) })
			b.ticks, b.nanos = b.ticks+int64(time.Hour), b.nanos+1000
			c := readBytes(t, slices.Concat(first, b.chunk(test.events)))
			assert.Empty(t, c.problems)
			assert.Len(t, c.sessions, test.sessions)
		})
	}
}

func TestEventsThatAreNotUsed(t *testing.T) {
	operate := func(b *builder) {
		for range 1200 {
			b.operate(200)
		}
	}
	assert.Empty(t, readBytes(t, newBuilder(true).chunk(func(b *builder) { b.sleep(200, 600) })).sessions[0].Unused)
	c := readBytes(t, newBuilder(true).chunk(func(b *builder) {
		b.sleep(200, 600)
		operate(b)
	}))
	assert.Equal(t, "1,200 jdk.ExecuteVMOperation", c.sessions[0].Unused)
	assert.Empty(t, c.problems)
	c = readBytes(t, newBuilder(true).chunk(func(b *builder) {
		b.sample(100)
		operate(b)
	}))
	require.Len(t, c.problems, 1)
	assert.Equal(t, "the recording has no waits of threads, only 1,200 jdk.ExecuteVMOperation, 1 jdk.ExecutionSample; "+
		"to record waits: jcmd PID JFR.start settings=profile", c.problems[0].What+"; "+c.problems[0].Remedy)
	many := counted{"a": 1, "b": 1234567, "c": 2}
	assert.Equal(t, "1,234,567 b, 2 c and 1 other kind of events", many.list(2))
	assert.Equal(t, "1,234,567 b and 2 other kinds of events", many.list(1))
}
