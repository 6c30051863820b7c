// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// A part has each event of its time, with names, whether there is an index or not.
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
		want := newTeller(t)
		want.symbols = sym
		for _, b := range batches[21:23] {
			for i := range b.Events {
				if b.Events[i].Time < to {
					want.tell(&b.Events[i])
				}
			}
		}
		assert.Subset(t, eventsOnly(got), eventsOnly(want)[1:], name)
		assert.Less(t, got.events, 5*want.events, name)
	}
}

func TestPartOfSeveralRecordingsIsRefused(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	batches := random(rand.New(rand.NewPCG(3, 4)), sym, 5)
	data := append(write(sym, batches), write(sym, batches)...)
	_, err := Part(bytes.NewReader(data), int64(len(data)), batches[1].Watermark, batches[2].Watermark)
	require.ErrorIs(t, err, errSeveral)
}

// A part is never more than the recording, whatever its index says.
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
