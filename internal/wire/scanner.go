// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"io"
)

// Scanner reads frames in memory, one after the other, without a preamble.
type Scanner struct {
	rest   []byte
	offset int64
	number uint64
}

// NewScanner returns a scanner of the frames in data, which must not change while it is used.
func NewScanner(data []byte) Scanner { return Scanner{rest: data} }

// Next returns the next frame of a known kind, or io.EOF after the last one. Its payload is a part of the data.
func (s *Scanner) Next() (Frame, error) {
	for len(s.rest) > 0 {
		s.number++
		frame := Frame{Number: s.number, Byte: s.offset}
		if len(s.rest) < FrameHeaderSize {
			return Frame{}, frame.broken(io.ErrUnexpectedEOF)
		}
		length := uint64(binary.LittleEndian.Uint32(s.rest))
		frame.Kind = FrameKind(binary.LittleEndian.Uint16(s.rest[4:]))
		if have := uint64(len(s.rest) - FrameHeaderSize); length > have {
			return Frame{}, frame.errorf("length is %d bytes, have %d", length, have)
		}
		size := FrameHeaderSize + int(length)
		frame.Payload = s.rest[FrameHeaderSize:size]
		s.rest, s.offset = s.rest[size:], s.offset+int64(size)
		if frame.Kind.Known() {
			return frame, nil
		}
	}
	return Frame{}, io.EOF
}
