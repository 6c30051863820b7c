// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// ordered is a sink that counts events, and those that violate the contract of recording.Batch.
type ordered struct {
	nothing

	events, wrong int
	watermark     jvmthread.Time
}

func (s *ordered) Batch(b *recording.Batch) error {
	for i := range b.Events {
		if b.Events[i].Time < s.watermark {
			s.wrong++
		}
	}
	s.events += len(b.Events)
	s.watermark = b.Watermark
	return nil
}

// Decoding needs bounded memory even if the watermark does not advance.
func TestStalledWatermark(t *testing.T) {
	t.Parallel()
	const batches, each = 96, 1 << 14
	data := wire.AppendHello(wire.AppendPreamble(nil), &wire.Hello{Session: jvmthread.SessionID{1}})
	section := wire.Section{Thread: 1, Events: make([]jvmthread.Event, each)}
	for batch := range batches {
		for i := range section.Events {
			section.Events[i] = jvmthread.Event{Time: jvmthread.Time(batch*each + i), Kind: jvmthread.KindYield}
		}
		data = wire.AppendBatch(data, wire.BatchHeader{Sequence: uint64(batch + 1), Watermark: 0, Before: uint64(batch * each)}, section)
	}
	sink := &ordered{watermark: math.MinInt64}
	d := NewDecoder(recording.Options{}, sink)
	_, err := d.Write(data)
	require.NoError(t, err)
	assert.Equal(t, batches*each-maxHeld, sink.events)
	require.NoError(t, d.Close())
	assert.Equal(t, batches*each, sink.events)
	assert.Zero(t, sink.wrong)
	assert.Zero(t, d.Stats().Problems)
}
