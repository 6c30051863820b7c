// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Index lists the positions of batches in a recording, so that parts of it can be read on their own. Its last field is its own position,
// so readers find it from the end of the recording.
type Index struct {
	Entries []IndexEntry
	Before  uint64 // byte offset of the previous index; 0 if there is none
	At      uint64 // byte offset of this index
}

// IndexEntry is the position of a batch. Its times are of the JVM's monotonic clock.
type IndexEntry struct {
	Definitions uint64         // byte offset of the definitions that precede the batch; equal to Batch if there are none
	Batch       uint64         // byte offset of the batch
	Time        jvmthread.Time // of the first event; the watermark if there is none
	Until       jvmthread.Time // of the last event, or the watermark if that is later
}

// indexEntrySize is the size of an entry in bytes.
const indexEntrySize = 32

// MaxIndexEntries is the number of entries that fit into a frame.
const MaxIndexEntries = (MaxFrame - 20) / indexEntrySize

// AppendIndex appends an index.
func AppendIndex(dst []byte, index *Index) []byte {
	dst, start := begin(dst, FrameIndex)
	entries := index.Entries[:min(len(index.Entries), MaxIndexEntries)]
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		dst = binary.LittleEndian.AppendUint64(dst, e.Definitions)
		dst = binary.LittleEndian.AppendUint64(dst, e.Batch)
		dst = appendI64(dst, int64(e.Time))
		dst = appendI64(dst, int64(e.Until))
	}
	dst = binary.LittleEndian.AppendUint64(dst, index.Before)
	return end(binary.LittleEndian.AppendUint64(dst, index.At), start)
}

// Index decodes the frame into index, reusing its entries.
func (f Frame) Index(index *Index) error {
	c := cursor{b: f.Payload}
	n := c.u32("count")
	if uint64(n)*indexEntrySize > uint64(len(c.b)) {
		return f.errorf("%d entries need %d bytes, have %d", n, uint64(n)*indexEntrySize, len(c.b))
	}
	index.Entries = index.Entries[:0]
	for range n {
		index.Entries = append(index.Entries, IndexEntry{
			Definitions: c.u64("definitions"), Batch: c.u64("batch"), Time: jvmthread.Time(c.i64("time")), Until: jvmthread.Time(c.i64("until")),
		})
	}
	index.Before = c.u64("before")
	index.At = c.u64("at")
	return c.err(f)
}
