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

// lie changes events of a native recording and leaves its form intact: the agent lies. It flips bits of other histories.
func lie(rng *rand.Rand, h *history) []byte {
	all := pieces(h)
	batches := batchesOf(all)
	if len(batches) == 0 {
		return flip(rng, h)
	}
	for range 1 + rng.IntN(3) {
		at := batches[rng.IntN(len(batches))]
		all[at] = rewritten(all[at], func(b *wire.BatchHeader, sections []wire.Section) { lyingBatch(rng, b, sections) })
	}
	return slices.Concat(all...)
}

// confuse gives something another identity in all events of a native recording: that of something else, or one that nothing has. It flips
// bits of other histories.
func confuse(rng *rand.Rand, h *history) []byte {
	all := pieces(h)
	var events []jvmthread.Event
	for _, at := range batchesOf(all) {
		rewritten(all[at], func(_ *wire.BatchHeader, sections []wire.Section) {
			for _, s := range sections {
				events = append(events, s.Events...)
			}
		})
	}
	if len(events) == 0 {
		return flip(rng, h)
	}
	one, other := events[rng.IntN(len(events))], events[rng.IntN(len(events))]
	for range 10 {
		if !one.Lock.IsZero() {
			break // most interesting
		}
		one = events[rng.IntN(len(events))]
	}
	class := [...]jvmthread.ClassID{0, other.Lock.Class, math.MaxUint32}[rng.IntN(3)]
	lock := [...]jvmthread.LockID{{Hash: rng.Uint32()}, {Hash: one.Lock.Hash | 1<<31}, other.Lock, {Class: one.Lock.Class, Hash: math.MaxUint32}}[rng.IntN(4)]
	what := rng.IntN(4)
	for _, at := range batchesOf(all) {
		all[at] = rewritten(all[at], func(_ *wire.BatchHeader, sections []wire.Section) {
			for _, s := range sections {
				for i := range s.Events {
					switch ev := &s.Events[i]; {
					case what == 0 && ev.Lock.Class == one.Lock.Class:
						ev.Lock.Class = class
					case what == 1 && ev.Lock == one.Lock:
						ev.Lock = lock
					case what == 2 && ev.Peer == one.Peer:
						ev.Peer = other.Thread
					case what == 3 && ev.Stack == one.Stack:
						ev.Stack = other.Stack
					}
				}
			}
		})
	}
	return slices.Concat(all...)
}

// batchesOf returns the indices of the pieces that are batches.
func batchesOf(all [][]byte) (indices []int) {
	for i, p := range all {
		if len(p) >= wire.FrameHeaderSize && frame(p) == len(p) && wire.FrameKind(p[4]) == wire.FrameBatch {
			indices = append(indices, i)
		}
	}
	return indices
}

// rewritten returns a batch that was changed. A batch that another mutation has damaged stays.
func rewritten(piece []byte, change func(*wire.BatchHeader, []wire.Section)) []byte {
	batch, err := wire.Frame{Kind: wire.FrameBatch, Payload: piece[wire.FrameHeaderSize:]}.Batch()
	var sections []wire.Section
	for err == nil && batch.More() {
		var s wire.Section
		s.Thread, s.Events, err = batch.Section(nil)
		sections = append(sections, s)
	}
	if err != nil || len(sections) == 0 {
		return piece
	}
	change(&batch.BatchHeader, sections)
	return wire.AppendBatch(nil, batch.BatchHeader, sections...)
}

func lyingBatch(rng *rand.Rand, batch *wire.BatchHeader, sections []wire.Section) {
	one := func() *jvmthread.Event {
		if events := sections[rng.IntN(len(sections))].Events; len(events) > 0 {
			return &events[rng.IntN(len(events))]
		}
		return new(jvmthread.Event)
	}
	for range 1 + rng.IntN(8) {
		switch rng.IntN(10) {
		case 0:
			a, b := one(), one()
			*a, *b = *b, *a
		case 1:
			s := &sections[rng.IntN(len(sections))]
			at := rng.IntN(len(s.Events) + 1)
			s.Events = slices.Concat(s.Events[:at], s.Events[max(at-1, 0):])
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
		ev.Lock = [...]jvmthread.LockID{{}, other.Lock, {Hash: math.MaxUint32}, {Hash: rng.Uint32()}, {Class: ev.Lock.Class}}[rng.IntN(5)]
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
