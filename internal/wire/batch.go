// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Batch is a batch whose sections are read one by one.
type Batch struct {
	BatchHeader

	frame   Frame
	rest    []byte
	section int
	skipped uint64
}

// Batch decodes the header of a batch.
func (f Frame) Batch() (Batch, error) {
	if len(f.Payload) < BatchHeaderSize {
		return Batch{}, f.errorf("header needs %d bytes, have %d", BatchHeaderSize, len(f.Payload))
	}
	b := Batch{frame: f, rest: f.Payload[BatchHeaderSize:], BatchHeader: BatchHeader{
		Sequence:  binary.LittleEndian.Uint64(f.Payload),
		Watermark: jvmthread.Time(binary.LittleEndian.Uint64(f.Payload[8:])),
		Before:    binary.LittleEndian.Uint64(f.Payload[16:]),
	}}
	if b.Sequence == 0 {
		return Batch{}, f.errorf("sequence is 0")
	}
	return b, nil
}

// More reports whether there is another section.
func (b *Batch) More() bool { return len(b.rest) > 0 }

// Skipped returns the number of records of unknown kinds in the sections read so far.
func (b *Batch) Skipped() uint64 { return b.skipped }

// Section appends the events of the next section to dst.
func (b *Batch) Section(dst []jvmthread.Event) (jvmthread.ThreadID, []jvmthread.Event, error) {
	b.section++
	if len(b.rest) < SectionSize {
		return 0, dst, b.frame.errorf("section %d: needs %d bytes, have %d", b.section, SectionSize, len(b.rest))
	}
	thread := jvmthread.ThreadID(binary.LittleEndian.Uint64(b.rest))
	count := binary.LittleEndian.Uint32(b.rest[8:])
	size := int(binary.LittleEndian.Uint16(b.rest[12:]))
	records := b.rest[SectionSize:]
	need := uint64(count) * uint64(size)
	switch {
	case thread == jvmthread.NoThread:
		return 0, dst, b.frame.errorf("section %d: thread is 0", b.section)
	case size < RecordSize:
		return 0, dst, b.frame.errorf("section %d: record size is %d, want at least %d", b.section, size, RecordSize)
	case need > uint64(len(records)):
		return 0, dst, b.frame.errorf("section %d: count %d needs %d bytes, have %d", b.section, count, need, len(records))
	}
	b.rest = records[need:]
	dst = slices.Grow(dst, int(count))
	for records = records[:need]; len(records) > 0; records = records[size:] {
		rec := (*[RecordSize]byte)(records)
		kind := binary.LittleEndian.Uint16(rec[36:])
		if kind > math.MaxUint8 || !jvmthread.Kind(kind).Valid() {
			b.skipped++
			continue
		}
		dst = append(dst, readRecord(rec, thread, jvmthread.Kind(kind)))
		ev := &dst[len(dst)-1]
		if ev.Kind == jvmthread.KindGap && (ev.Arg < 0 || ev.Arg > jvmthread.MaxLost) {
			return 0, dst, b.frame.errorf("a gap of %d events, want 0 to %d", ev.Arg, uint64(jvmthread.MaxLost))
		}
		if ev.Kind.CarriesSpan() {
			unpackSpan(ev)
		}
	}
	return thread, dst, nil
}

func readRecord(rec *[RecordSize]byte, thread jvmthread.ThreadID, kind jvmthread.Kind) jvmthread.Event {
	return jvmthread.Event{
		Time:   jvmthread.Time(binary.LittleEndian.Uint64(rec[0:])),
		Thread: thread,
		Peer:   jvmthread.ThreadID(binary.LittleEndian.Uint64(rec[8:])),
		Arg:    int64(binary.LittleEndian.Uint64(rec[16:])),
		Lock: jvmthread.LockID{
			Hash:  binary.LittleEndian.Uint32(rec[24:]),
			Class: jvmthread.ClassID(binary.LittleEndian.Uint32(rec[28:])),
		},
		Stack: jvmthread.StackID(binary.LittleEndian.Uint32(rec[32:])),
		Kind:  kind,
		Flags: jvmthread.Flags(binary.LittleEndian.Uint16(rec[38:])),
	}
}
