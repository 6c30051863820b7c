// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Events too large to be examined are counted. No JVM writes such events about threads.
func TestHugeEventsAreCounted(t *testing.T) {
	c := readBytes(t, newBuilder(true).chunk(func(b *builder) {
		sample(b)
		b.event(typeEnter, func(e *builder) { e.out = append(e.out, make([]byte, windowSize)...) })
		b.event(99, func(e *builder) { e.out = append(e.out, make([]byte, windowSize)...) })
	}))
	assert.Equal(t, wantSample+"end detached\n", c.print())
	require.Len(t, c.problems, 1)
	assert.Equal(t, "1 events of the chunk do not match its metadata", c.problems[0].What)
	assert.EqualValues(t, 1, c.problems[0].Lost)
	assert.EqualValues(t, 1, c.lost, "of the batches")
}

// Events may refer to constants that the chunk does not have. They lack the names then; without a thread, they are skipped and counted.
func TestUndefinedConstantsAreReported(t *testing.T) {
	data := newBuilder(true).chunk(func(b *builder) {
		sample(b)
		b.event(typeEnter, func(e *builder) {
			e.long(b.ticks + 6000).long(100).long(2).long(10).long(66).long(1).long(0x7f0012345678)
		})
		b.event(typeSleep, func(e *builder) { e.long(b.ticks + 6000).long(100).long(99).long(5) })
	})
	want := []string{"events refer to 2 classes and stacks that the chunk does not define"}
	for _, c := range []*collector{readBytes(t, data), push(t, data, len(data), false), push(t, data, 7, true)} {
		var got []string
		for _, p := range c.problems {
			got = append(got, p.What)
		}
		assert.Equal(t, want, got)
		assert.Zero(t, c.lost)
		assert.EqualValues(t, 1, c.unknown)
		assert.Len(t, c.of(17, jvmthread.KindContendedEnter), 2)
		assert.Len(t, c.of(1, jvmthread.KindSleepStart), 1)
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{true, false} {
		data := newBuilder(packed).chunk(sample)
		for n := range data {
			c := readBytes(t, data[:n])
			if n > 0 {
				assert.NotEmpty(t, c.problems, "at byte %d", n)
			}
			assert.Empty(t, c.ends, "at byte %d", n)
			push(t, data[:n], 64, n%2 == 0)
		}
	}
}

func TestEveryBitFlipped(t *testing.T) {
	t.Parallel()
	data := newBuilder(true).chunk(sample)
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			quiet(t, data)
			data[i] ^= 1 << bit
		}
	}
}

// quiet reads arbitrary data, and only checks that the decoder does not panic, hang or exhaust memory.
func quiet(t testing.TB, data []byte) {
	t.Helper()
	d := NewDecoder(recording.Options{}, nothing{})
	_, err := d.ReadFrom(bytes.NewReader(data))
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.jfr.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := make(map[string][]byte)
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		all[file], err = io.ReadAll(z)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return all
}

// TestCorruptRecordingsOfJVMs truncates real recordings, and changes single bytes in them.
func TestCorruptRecordingsOfJVMs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, data := range fixtures(t) {
		for range 60 {
			quiet(t, data[:random.IntN(len(data))])
			changed := bytes.Clone(data)
			for range 1 + random.IntN(4) {
				changed[random.IntN(len(changed))] = byte(random.Uint32())
			}
			quiet(t, changed)
		}
		assert.NotEmpty(t, readBytes(t, data).events, name)
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add(newBuilder(true).chunk(func(b *builder) {
		b.settings(typeEnter, typePark, typeSample)
		b.dump(10, dumpTitle+dumpedMain+dumpedOther)
		b.read(400, "", "10.0.0.7", 5432)
		b.enter(110, 40)
		b.force(600, 10, "/tmp/x")
		b.sample(700)
		b.dump(9000, dumpTitle+dumpedWorker+dumpedOther)
	}))
	for _, packed := range []bool{true, false} {
		f.Add(newBuilder(packed).chunk(sample))
	}
	b := newBuilder(true)
	b.open = true
	f.Add(b.chunk(sample))
	f.Add(append(b.chunk(func(b *builder) { b.flush(); sample(b) }), newBuilder(false).chunk(sample)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		quiet(t, data)
		push(t, data, 1+len(data)/3, true)
	})
}
