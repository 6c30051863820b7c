// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// lie changes the events of a native recording and leaves its form intact: the agent lies. It flips bits of other histories.
func lie(rng *rand.Rand, h *history) []byte {
	all := pieces(h)
	var batches []int
	for i, p := range all {
		if _, ok := batchOf(p); ok {
			batches = append(batches, i)
		}
	}
	if len(batches) == 0 {
		return flip(rng, h)
	}
	for range 1 + rng.IntN(3) {
		at := batches[rng.IntN(len(batches))]
		all[at] = lyingBatch(rng, all[at])
	}
	return slices.Concat(all...)
}

// batchOf returns the batch in a piece.
func batchOf(piece []byte) (wire.Batch, bool) {
	if len(piece) < wire.FrameHeaderSize || frame(piece) != len(piece) || wire.FrameKind(piece[4]) != wire.FrameBatch {
		return wire.Batch{}, false
	}
	batch, err := wire.Frame{Kind: wire.FrameBatch, Payload: piece[wire.FrameHeaderSize:]}.Batch()
	return batch, err == nil
}

func lyingBatch(rng *rand.Rand, piece []byte) []byte {
	batch, _ := batchOf(piece)
	var sections []wire.Section
	var events []*jvmthread.Event
	for batch.More() {
		thread, list, err := batch.Section(nil)
		if err != nil {
			return piece // another mutation has damaged it
		}
		sections = append(sections, wire.Section{Thread: thread, Events: list})
		for i := range list {
			events = append(events, &list[i])
		}
	}
	if len(events) == 0 {
		return piece
	}
	one := func() *jvmthread.Event { return events[rng.IntN(len(events))] }
	for range 1 + rng.IntN(8) {
		switch rng.IntN(10) {
		case 0:
			a, b := one(), one()
			*a, *b = *b, *a
		case 1:
			if s := &sections[rng.IntN(len(sections))]; len(s.Events) > 0 {
				at := rng.IntN(len(s.Events))
				s.Events = append(slices.Clone(s.Events[:at+1]), s.Events[at:]...)
			}
		case 2:
			sections[rng.IntN(len(sections))].Thread = one().Peer | 1 // not 0, at which the batch would be refused
		case 3:
			batch.Watermark = lyingTime(rng, one().Time)
		case 4:
			batch.Before = uint64(lyingNumber(rng))
		default:
			lyingEvent(rng, one(), one())
		}
	}
	return wire.AppendBatch(nil, batch.BatchHeader, sections...)
}

// lyingEvent changes a field of an event, to that of another or to a limit.
func lyingEvent(rng *rand.Rand, ev, other *jvmthread.Event) {
	const most = jvmthread.ThreadID(math.MaxUint64)
	switch rng.IntN(10) {
	case 0:
		ev.Kind = jvmthread.Kind(1 + rng.IntN(jvmthread.NumKinds-1))
	case 1:
		ev.Peer = [...]jvmthread.ThreadID{0, 1, most, ev.Thread, other.Thread, other.Peer}[rng.IntN(6)]
	case 2:
		ev.Lock = [...]jvmthread.LockID{{}, other.Lock, {Hash: math.MaxUint32}, {Hash: ev.Lock.Hash}, {Class: ev.Lock.Class}}[rng.IntN(5)]
	case 3:
		ev.Lock.Hash ^= 1 << rng.IntN(32)
	case 4:
		ev.Lock.Class = [...]jvmthread.ClassID{0, other.Lock.Class, math.MaxUint32, 1 << 31}[rng.IntN(4)]
	case 5:
		ev.Arg = lyingNumber(rng)
	case 6:
		ev.Stack = [...]jvmthread.StackID{0, other.Stack, math.MaxUint32}[rng.IntN(3)]
	case 7:
		ev.Flags ^= 1 << rng.IntN(16)
	default:
		ev.Time = lyingTime(rng, other.Time)
	}
}

func lyingNumber(rng *rand.Rand) int64 {
	return [...]int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MaxUint32, jvmthread.MaxEvents, jvmthread.MaxLost, rng.Int64()}[rng.IntN(9)]
}

func lyingTime(rng *rand.Rand, other jvmthread.Time) jvmthread.Time {
	if rng.IntN(3) == 0 {
		return jvmthread.Time(lyingNumber(rng))
	}
	return other + jvmthread.Time([...]time.Duration{0, 1, -1, -time.Millisecond, time.Second, -time.Minute, time.Hour, 1000 * time.Hour}[rng.IntN(8)])
}
