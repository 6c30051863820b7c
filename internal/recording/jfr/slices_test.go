// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// shuffled returns a chunk whose two threads flushed their buffers now and then, some of them late.
func shuffled(rng *rand.Rand, malformed int) []byte {
	type write func(b *builder)
	var buffers [][]write
	for thread := range 2 {
		at := int64(0)
		for at < 40_000 {
			var buffer []write
			for range 1 + rng.IntN(30) {
				start, duration := at+1+int64(rng.IntN(50)), int64(2*rng.IntN(40))
				at = start + duration
				buffer = append(buffer, func(b *builder) {
					if thread == 0 {
						b.sleep(start, duration)
					} else {
						b.wait(start, duration)
					}
				})
			}
			buffers = append(buffers, buffer)
		}
	}
	for i := range malformed {
		buffers = append(buffers, []write{func(b *builder) {
			b.event(typeSleep, func(e *builder) { e.long(b.ticks + int64(i*400)).byte(0x80) })
		}})
	}
	late := rng.IntN(len(buffers))
	rng.Shuffle(late, func(i, k int) { buffers[i], buffers[k] = buffers[k], buffers[i] })
	return newBuilder(true).chunk(func(b *builder) {
		for _, buffer := range buffers {
			for _, w := range buffer {
				w(b)
			}
		}
	})
}

// The size of slices and blocks is a matter of memory only.
func TestSlicesDoNotMatter(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		const malformed = 3
		data := shuffled(rng, malformed)
		read := func(room int, size int64) *collector {
			c := newCollector(t)
			d := NewDecoder(recording.Options{Symbols: c.symbols}, c)
			d.slice.room, d.blockSize = room, size
			_, err := d.ReadFrom(bytes.NewReader(data))
			require.NoError(t, err)
			require.NoError(t, d.Close())
			return c
		}
		whole := read(sliceRecords, blockSize)
		require.Greater(t, len(whole.events), 1000)
		for _, room := range []int{4, 30, 100, 500} {
			for _, size := range []int64{1, 300, blockSize} {
				c := read(room, size)
				what := fmt.Sprintf("seed %d, %d records, %d bytes", seed, room, size)
				require.Equal(t, whole.print(), c.print(), what)
				require.Len(t, c.problems, 1, what)
				require.EqualValues(t, malformed, c.problems[0].Lost, what)
			}
		}
	}
}

func TestNth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 300; n++ {
		list := make([]jvmthread.Time, n)
		for i := range list {
			list[i] = jvmthread.Time(rng.IntN(n))
		}
		if n%3 == 0 {
			slices.Sort(list)
		}
		sorted := slices.Sorted(slices.Values(list))
		at := rng.IntN(n)
		assert.Equal(t, sorted[at], nth(list, at))
	}
}

// Chunks without events or constants cost memory too: a recording of very many does not keep all of them open.
func TestFewSmallChunksStayOpen(t *testing.T) {
	one := newBuilder(true).chunk(func(*builder) {})
	const chunks = 2000
	data := bytes.Repeat(one, chunks)
	c := newCollector(t)
	d := NewDecoder(recording.Options{Symbols: c.symbols}, c)
	d.makeWindow(int64(len(data)))
	parts, err := d.parts(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, parts, chunks)
	r := run{ends: newLasts()}
	open := 0
	for i := range parts {
		chunk, problem, err := openChunk(bytes.NewReader(data), parts[i], d.buf)
		require.NoError(t, err)
		require.Nil(t, problem)
		if i == 0 {
			d.begin(chunk)
		}
		require.NoError(t, d.survey(&r, chunk, 0))
		if r.parts[i].open != nil {
			open++
		}
	}
	assert.Positive(t, open)
	assert.LessOrEqual(t, open, maxOpen/chunkCost)
}
