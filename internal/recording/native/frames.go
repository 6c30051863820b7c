// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/weft-otel/weft/internal/wire"
)

// frames splits pushed bytes into frames, and resynchronizes after malformed input.
type frames struct {
	limit  int
	take   func(wire.Frame) // the payload is valid until it returns
	report func(offset int64, what, remedy string)
	rest   []byte // an incomplete frame
	offset int64  // of rest, or of the next push
	number uint64
	lost   int64 // where synchronization was lost; -1: it was not
}

const headerSize = wire.FrameHeaderSize

// push adds bytes.
func (f *frames) push(p []byte) {
	if len(f.rest) > 0 {
		f.rest = append(f.rest, p...)
		p = f.rest
	}
	n := f.cut(p)
	f.offset += int64(n)
	f.rest = append(f.rest[:0], p[n:]...)
}

// cut passes all complete frames to take, and returns their length.
func (f *frames) cut(p []byte) (n int) {
	for {
		b := p[n:]
		size := sizeAt(b, f.limit)
		switch {
		case size == needMore:
			return n
		case size == broken || f.lost >= 0 && !f.plausible(b, size):
			if f.lost < 0 {
				f.lost = f.offset + int64(n)
			}
			n++
			continue
		case f.lost >= 0 && len(b) < size+headerSize:
			return n // the next frame will show whether this is one
		case len(b) < size:
			return n
		}
		f.found(f.offset + int64(n))
		f.number++
		frame := wire.Frame{Number: f.number, Byte: f.offset + int64(n)}
		if !isPreamble(b) {
			frame.Kind = wire.FrameKind(binary.LittleEndian.Uint16(b[4:]))
			frame.Payload = b[headerSize:size]
		} else {
			frame.Payload = b[:size]
		}
		f.take(frame)
		n += size
	}
}

const (
	needMore = -1
	broken   = -2
)

func isPreamble(b []byte) bool { return bytes.HasPrefix(b, []byte(wire.Magic)) }

// sizeAt returns the length of the frame or preamble at the start of b.
func sizeAt(b []byte, limit int) int {
	if len(b) < headerSize {
		return needMore
	}
	if isPreamble(b) {
		return wire.PreambleSize
	}
	length := binary.LittleEndian.Uint32(b)
	kind := binary.LittleEndian.Uint16(b[4:])
	if uint64(length) > uint64(limit) || kind == 0 || binary.LittleEndian.Uint16(b[6:]) != 0 {
		return broken
	}
	return headerSize + int(length)
}

// plausible reports whether frames may resume at the start of b: with one of a known kind that another one follows.
func (f *frames) plausible(b []byte, size int) bool {
	if isPreamble(b) {
		return true
	}
	if !wire.FrameKind(binary.LittleEndian.Uint16(b[4:])).Known() {
		return false
	}
	if len(b) < size+headerSize {
		return true // see cut
	}
	next := b[size:]
	return isPreamble(next) || sizeAt(next, f.limit) > 0 && wire.FrameKind(binary.LittleEndian.Uint16(next[4:])).Known()
}

// found reports the bytes skipped before a frame, if any.
func (f *frames) found(at int64) {
	if f.lost < 0 {
		return
	}
	f.report(f.lost, "expected a frame", fmt.Sprintf("skipping %d bytes, whose events are missing", at-f.lost))
	f.lost = -1
}

// close reports the bytes that are left.
func (f *frames) close() {
	switch {
	case f.lost >= 0:
		f.report(f.lost, "expected a frame", "skipping the rest of the recording")
	case len(f.rest) > 0:
		f.report(f.offset, fmt.Sprintf("the recording is truncated: it ends %d bytes into a frame", len(f.rest)), "reading all frames before it")
	}
}
