// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "github.com/weft-otel/weft/internal/jvmthread"

// block is a part of a chunk, and when its records start.
type block struct {
	at, end     int64 // offsets of the first event and of the one after the last; the first block of a chunk starts at 0
	first, last jvmthread.Time
}

// blockSize is the size of a block in bytes. The blocks of a recording of 1 GB need 128 KB.
const blockSize = 256 << 10

// blocks are the consecutive blocks of a chunk.
type blocks struct {
	size int64 // at which a block ends
	list []block
}

// add adds a record, after which the chunk continues at an offset.
func (b *blocks) add(begin jvmthread.Time, after int64) {
	var at int64
	if n := len(b.list); n > 0 {
		last := &b.list[n-1]
		if last.end-last.at < b.size {
			last.end, last.first, last.last = after, min(last.first, begin), max(last.last, begin)
			return
		}
		at = last.end
	}
	b.list = append(b.list, block{at: at, end: after, first: begin, last: begin})
}

// overlaps reports whether the block may have a record that starts at lo or later, but before hi.
func (b *block) overlaps(lo, hi jvmthread.Time) bool { return b.first < hi && b.last >= lo }

// within returns the offsets of a block of a chunk, from an offset on.
func (b *block) within(c *chunk, from int64) (_, to int64) {
	return max(from, b.at, c.at+headerSize), b.end
}
