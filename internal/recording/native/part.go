// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Part returns the part of a native recording with the events between two wall-clock times, as a recording for a Decoder: preamble, hello,
// definitions, all batches that overlap the span, and the end. With an index it reads only these; without one, as when the JVM was killed, it also reads
// the headers of all frames. If it returns an error the recording has to be read as a whole.
func Part(src io.ReaderAt, size int64, from, to jvmthread.Time) (io.Reader, error) {
	offset, front, err := readFront(src, size)
	if err != nil {
		return nil, err
	}
	entries, err := readIndex(src, size)
	if err != nil {
		if entries, err = walk(src, front, size); err != nil {
			return nil, err
		}
	}
	from, to = minus(from, offset), minus(to, offset)
	first, last := len(entries), -1
	for i := range entries {
		if entries[i].Until >= from && entries[i].Time < to {
			first, last = min(first, i), i
		}
	}
	sections, read := []io.Reader{io.NewSectionReader(src, 0, front)}, front
	for i := 0; i <= last; i++ {
		e := &entries[i]
		begin, end := int64(e.Definitions), int64(e.Batch)
		if i >= first {
			if end, err = frameEnd(src, end, size); err != nil {
				return nil, err
			}
		}
		if begin < end {
			sections, read = append(sections, io.NewSectionReader(src, begin, end-begin)), end
		}
	}
	if at := lastEnd(src, size); at >= read {
		sections = append(sections, io.NewSectionReader(src, at, size-at))
	}
	return io.MultiReader(sections...), nil
}

// lastEnd returns the offset of the end frame of a recording: what its threads did last lasted until then. It is negative if there is none.
func lastEnd(src io.ReaderAt, size int64) int64 {
	at := size - int64(len(wire.AppendEnd(nil, wire.End{})))
	reader := wire.NewReader(io.NewSectionReader(src, at, size-at), wire.MaxFrame)
	if frame, err := reader.Next(); err != nil || frame.Kind != wire.FrameEnd || reader.Offset() != size-at {
		return -1
	}
	return at
}

// minus returns t - offset, saturated.
func minus(t, offset jvmthread.Time) jvmthread.Time {
	d := t - offset
	switch {
	case offset > 0 && d > t:
		return math.MinInt64
	case offset < 0 && d < t:
		return math.MaxInt64
	}
	return d
}

// readFront returns the offset from the recording's times to the wall clock, and the end of the hello.
func readFront(src io.ReaderAt, size int64) (offset jvmthread.Time, front int64, err error) {
	r := wire.NewReader(io.NewSectionReader(src, 0, size), wire.MaxFrame)
	if _, err := r.Preamble(); err != nil {
		return 0, 0, err
	}
	frame, err := r.Next()
	if err != nil {
		return 0, 0, fmt.Errorf("hello: %w", err)
	}
	var hello wire.Hello
	if frame.Kind != wire.FrameHello {
		return 0, 0, fmt.Errorf("byte %d: %s in place of the hello", frame.Byte, frame.Kind)
	}
	if err := frame.Hello(&hello); err != nil {
		return 0, 0, err
	}
	return jvmthread.Time(hello.Wall - hello.Monotonic), r.Offset(), nil
}

var (
	errNoIndex = errors.New("the recording has no index")
	errSeveral = errors.New("the file has several recordings, or its agent reconnected")
)

// readIndex reads all indices, from the last to the first, and returns their entries in the order of the recording.
func readIndex(src io.ReaderAt, size int64) ([]wire.IndexEntry, error) {
	at, err := lastIndex(src, size)
	if err != nil {
		return nil, err
	}
	var lists [][]wire.IndexEntry
	for end := size; at > 0; {
		if at >= end { // would loop
			return nil, errNoIndex
		}
		frame, err := wire.NewReader(io.NewSectionReader(src, at, size-at), wire.MaxFrame).Next()
		if err != nil || frame.Kind != wire.FrameIndex {
			return nil, errNoIndex
		}
		var index wire.Index
		if err := frame.Index(&index); err != nil || index.Before > math.MaxInt64 {
			return nil, errNoIndex
		}
		lists = append(lists, index.Entries)
		end, at = at, int64(index.Before)
	}
	var entries []wire.IndexEntry
	before := uint64(0)
	for i := range lists {
		for _, e := range lists[len(lists)-1-i] {
			if e.Definitions < before || e.Batch < e.Definitions || e.Batch >= uint64(size) {
				return nil, errNoIndex
			}
			before = e.Batch + 1
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// lastIndex returns the offset of the last index, which only an end frame may follow.
func lastIndex(src io.ReaderAt, size int64) (int64, error) {
	endSize := int64(len(wire.AppendEnd(nil, wire.End{})))
	for _, after := range []int64{0, endSize} {
		var b [8]byte
		if size < after+int64(len(b)) {
			break
		}
		if _, err := src.ReadAt(b[:], size-after-int64(len(b))); err != nil {
			return 0, err
		}
		at := binary.LittleEndian.Uint64(b[:])
		if at == 0 || at >= uint64(size-after) {
			continue
		}
		if end, err := frameEnd(src, int64(at), size); err == nil && end == size-after {
			return int64(at), nil
		}
	}
	return 0, errNoIndex
}

func frameEnd(src io.ReaderAt, at, size int64) (int64, error) {
	var head [headerSize]byte
	if _, err := src.ReadAt(head[:], at); err != nil {
		return 0, err
	}
	end := at + headerSize + int64(binary.LittleEndian.Uint32(head[:]))
	if end > size {
		return 0, fmt.Errorf("byte %d: the frame extends beyond the end of the recording", at)
	}
	return end, nil
}

// walk builds an index from the headers of all frames. The previous watermark serves as the time of the first event of a batch.
func walk(src io.ReaderAt, from, size int64) (entries []wire.IndexEntry, err error) {
	definitions := from
	watermark := jvmthread.Time(math.MinInt64)
	for at := from; at < size; {
		var b [headerSize + wire.BatchHeaderSize]byte
		n, err := src.ReadAt(b[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n < headerSize {
			break
		}
		end := at + headerSize + int64(binary.LittleEndian.Uint32(b[:]))
		if isPreamble(b[:]) {
			return nil, errSeveral
		}
		if end > size {
			break
		}
		kind := wire.FrameKind(binary.LittleEndian.Uint16(b[4:]))
		if (kind == wire.FrameBatch || kind == wire.FrameAggregate) && n == len(b) {
			until := jvmthread.Time(binary.LittleEndian.Uint64(b[headerSize+8:]))
			entries = append(entries, wire.IndexEntry{
				Definitions: uint64(definitions), Batch: uint64(at), Time: watermark, Until: math.MaxInt64,
			})
			if k := len(entries); k > 1 {
				entries[k-2].Until = until // a batch has no events after the watermark of the next one
			}
			watermark, definitions = until, end
		}
		at = end
	}
	return entries, nil
}
