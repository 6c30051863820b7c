// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// A part contains all events of its time range, with names, with or without an index.
func TestPart(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 50)
	data := write(sym, batches)
	from, to := batches[20].Watermark, batches[22].Watermark
	cut := bytes.LastIndex(data, []byte{byte(wire.FrameIndex), 0, 0, 0}) - 4
	for name, data := range map[string][]byte{"index": data, "no index": data[:cut]} {
		r, err := Part(bytes.NewReader(data), int64(len(data)), from, to)
		require.NoError(t, err)
		part, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Less(t, len(part), len(data)/4, name)
		got := read(t, bytes.NewReader(part))
		assert.Empty(t, got.problems, name)
		assert.Zero(t, got.lost, name)
		want := newPrinter(t)
		want.symbols = sym
		for _, b := range batches[21:23] {
			for i := range b.Events {
				if b.Events[i].Time < to {
					want.print(&b.Events[i])
				}
			}
		}
		assert.Subset(t, eventsOnly(got), eventsOnly(want)[1:], name)
		assert.Less(t, got.events, 5*want.events, name)
	}
}

// An agent's times are of the monotonic clock. A part without an end contains the last batch even if the JVM was killed and left no index.
func TestPartUpToTheEnd(t *testing.T) {
	const offset = 1_700_000_000_000_000_000
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 50)
	data := write(sym, batches)
	reader := wire.NewReader(bytes.NewReader(data), wire.MaxFrame)
	_, err := reader.Preamble()
	require.NoError(t, err)
	front := reader.Offset()
	frame, err := reader.Next()
	require.NoError(t, err)
	var hello wire.Hello
	require.NoError(t, frame.Hello(&hello))
	hello.Wall += offset
	moved := append(wire.AppendHello(bytes.Clone(data[:front]), &hello), data[reader.Offset():]...)
	cut := bytes.LastIndex(moved, []byte{byte(wire.FrameIndex), 0, 0, 0}) - 4
	whole := read(t, bytes.NewReader(moved[:cut]))
	for _, from := range []jvmthread.Time{math.MinInt64, batches[40].Watermark + offset} {
		r, err := Part(bytes.NewReader(moved[:cut]), int64(cut), from, math.MaxInt64)
		require.NoError(t, err)
		got := read(t, r)
		assert.Equal(t, whole.watermark, got.watermark)
		assert.Equal(t, from == math.MinInt64, got.events == whole.events)
	}
}

func TestPartOfSeveralRecordingsIsRefused(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 5)
	data := append(write(sym, batches), write(sym, batches)...)
	_, err := Part(bytes.NewReader(data), int64(len(data)), batches[1].Watermark, batches[2].Watermark)
	require.ErrorIs(t, err, errSeveral)
}

// A part is never larger than the recording, even if its index is wrong.
func FuzzPart(f *testing.F) {
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 3)
	f.Add(write(sym, batches), int64(batches[0].Watermark), int64(batches[1].Watermark))
	f.Fuzz(func(t *testing.T, data []byte, from, to int64) {
		part, err := Part(bytes.NewReader(data), int64(len(data)), jvmthread.Time(from), jvmthread.Time(to))
		if err != nil {
			return
		}
		n, err := io.Copy(io.Discard, part)
		require.NoError(t, err)
		assert.LessOrEqual(t, n, int64(len(data)))
	})
}
