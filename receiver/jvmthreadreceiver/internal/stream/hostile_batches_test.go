// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// section returns a batch with a section whose header need not be true, in text form.
func section(thread uint64, count uint32, size uint16, records []byte) string {
	payload := binary.LittleEndian.AppendUint64(nil, 1) // sequence
	payload = append(payload, make([]byte, 16)...)
	payload = binary.LittleEndian.AppendUint64(payload, thread)
	payload = binary.LittleEndian.AppendUint32(payload, count)
	payload = binary.LittleEndian.AppendUint16(payload, size)
	payload = append(append(payload, 0, 0), records...)
	return framed(uint32(len(payload)), wire.FrameBatch, payload)
}

// accepted returns an attack that sends a batch, which is acknowledged.
func accepted(name, does, outcome string, batch func() []byte) attack {
	return attack{name, does, overUnix, func(h *hostile) string {
		a := h.session()
		_, err := a.conn.Write(batch())
		require.NoError(h, err)
		assert.EqualValues(h, 1, a.acked())
		return outcome
	}}
}

func batchAttacks() []attack {
	const event = "\n section thread=1\n  event "
	header := wire.BatchHeader{Sequence: 1}
	return []attack{
		sends("count of records that lies", "4,294,967,295 records in 40 bytes", section(1, math.MaxUint32, 40, make([]byte, 40))),
		sends("small records", "records of 39 bytes", section(1, 1, 39, make([]byte, 40))),
		sends("large records", "65,535 records of 65,535 bytes in 40 bytes", section(1, 65_535, 65_535, make([]byte, 40))),
		sends("thread 0", "a section of no thread", section(0, 1, 40, make([]byte, 40))),
		sends("half a section", "15 bytes after the header", framed(39, wire.FrameBatch, append([]byte{1}, make([]byte, 38)...))),
		sends("before 1970", "an event before 1970", "batch sequence=1"+event+"yield time=-9000000000000000000"),
		sends("after 2262", "an event after 2262, whose time overflows", "batch sequence=1"+event+"yield time=9223372036854775807"),
		accepted("watermark in 2262", "a watermark at the end of time", "accepted: only its own session is complete then", func() []byte {
			return wire.AppendBatch(nil, wire.BatchHeader{Sequence: 1, Watermark: math.MaxInt64 - 1_000_000})
		}),
		sends("negative gap", "a gap of -1 events", "batch sequence=1"+event+"gap arg=-1"),
		sends("huge gap", "a gap of 2^62 events", "batch sequence=1"+event+"gap arg=4611686018427387904"),
		sends("huge past", "2^64-1 events before the batch", "batch sequence=1 before=18446744073709551615"),
		accepted("empty sections", "65,000 sections without records", "delivered as an empty batch", func() []byte {
			sections := make([]wire.Section, 65_000)
			for i := range sections {
				sections[i].Thread = jvmthread.ThreadID(i + 1)
			}
			return wire.AppendBatch(nil, header, sections...)
		}),
		accepted("many threads", "18,000 sections of undefined threads, with one record each", "delivered without names", func() []byte {
			sections := make([]wire.Section, 18_000)
			for i := range sections {
				sections[i] = wire.Section{Thread: jvmthread.ThreadID(math.MaxInt64 - i), Events: []jvmthread.Event{{Kind: jvmthread.KindYield}}}
			}
			return wire.AppendBatch(nil, header, sections...)
		}),
		accepted("largest values", "26,000 records with all fields at their maximum, of all kinds", "delivered; unknown peers and stacks have no names", func() []byte {
			events := make([]jvmthread.Event, 26_000)
			for i := range events {
				kind := jvmthread.Kind(1 + i%32)
				if !kind.Valid() || kind == jvmthread.KindGap {
					kind = jvmthread.KindContext
				}
				events[i] = jvmthread.Event{
					Kind: kind, Time: 1, Peer: math.MaxUint64, Arg: math.MaxInt64, Stack: math.MaxUint32, Flags: math.MaxUint16,
					Lock: jvmthread.LockID{Hash: math.MaxUint32, Class: math.MaxUint32},
				}
			}
			return wire.AppendBatch(nil, header, wire.Section{Thread: 1, Events: events})
		}),
		accepted("unknown events", "26,000 records of an unknown kind", "skipped and counted", func() []byte {
			return wire.AppendBatch(nil, header, wire.Section{Thread: 1, Events: func() []jvmthread.Event {
				events := make([]jvmthread.Event, 26_000)
				for i := range events {
					events[i].Kind = 200
				}
				return events
			}()})
		}),
		{"largest batches", "20 agents with 20 full batches of 1 MiB each", overUnix, func(h *hostile) string {
			events := make([]jvmthread.Event, 26_000)
			for i := range events {
				events[i].Kind = jvmthread.KindYield
			}
			h.each(20, func(n int) {
				a := h.greeted(100 + n)
				for i := range uint64(fewer(20)) {
					_, err := a.conn.Write(wire.AppendBatch(nil, wire.BatchHeader{Sequence: i + 1}, wire.Section{Thread: 1, Events: events}))
					if err != nil {
						h.Errorf("agent %d: %v", n, err)
						return
					}
					if got := a.acked(); got != i+1 {
						h.Errorf("agent %d: batch %d was acknowledged as %d", n, i+1, got)
					}
				}
			})
			assert.Equal(h, 20*fewer(20), h.ledger.delivered())
			return "delivered, as many at a time as there is memory for"
		}},
		sends("series of 0 bytes", "a series with the size 0", "aggregate sequence=1 scale=2\n"+framed(0, 99, nil)+"\n"+
			framed(50, wire.FrameAggregate, append([]byte{1}, make([]byte, 49)...))),
		sends("scale of sums", "a histogram of scale 21", "aggregate sequence=1 scale=21"),
		sends("sums of the future", "sums that end before they begin", "aggregate sequence=1 from=9 to=1 scale=2"),
		accepted("aggregate bomb", "21,000 series in one frame", "delivered", func() []byte {
			a := wire.Aggregate{BatchHeader: header}
			for i := range 21_000 {
				a.Series = append(a.Series, jvmthread.Series{Kind: jvmthread.KindPark, Stack: jvmthread.StackID(i), Sum: math.MaxInt64, Max: math.MaxInt64, Zero: 1})
			}
			return wire.AppendAggregate(nil, &a)
		}),
		sends("count of buckets that lies", "65,535 buckets in a series of 48 bytes", framed(48+48, wire.FrameAggregate,
			append(append([]byte{1}, make([]byte, 47)...), append([]byte{48, 0, 17, 0, 0, 0, 0xff, 0xff}, make([]byte, 40)...)...))),
		sends("overflow of counts", "buckets whose sum exceeds 64 bits",
			"aggregate sequence=1 scale=2\n series park sum=1 max=1 buckets="+strings.TrimSuffix(strings.Repeat("18446744073709551615,", 3), ",")),
	}
}
