// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/recording/jfr"
	"github.com/weft-otel/weft/internal/wire"
)

// pieces splits a history after each of its frames, events or lines. Together they are the history.
func pieces(h *history) (all [][]byte) {
	size := sizer(h)
	for rest := h.data; len(rest) > 0; {
		n := size(rest)
		if n <= 0 || n > len(rest) {
			n = len(rest)
		}
		all = append(all, rest[:n:n])
		rest = rest[n:]
	}
	return all
}

// sizer returns a function that returns the length of the first piece of a part of the history.
func sizer(h *history) func([]byte) int {
	switch {
	case strings.HasSuffix(h.name, carrierSuffix):
		return carrier
	case bytes.HasPrefix(h.data, []byte(wire.Magic)):
		return frame
	case bytes.HasPrefix(h.data, []byte(jfr.Magic)):
		return event
	}
	return line
}

// line returns the length of a line, or of a tag in a file with few lines.
func line(b []byte) int {
	if n := bytes.IndexAny(b, ">\n"); n >= 0 && n < 1000 {
		return n + 1
	}
	if n := bytes.IndexAny(b, "}"); n >= 0 { // of spans as JSON
		return n + 1
	}
	return len(b)
}

// frame returns the length of a frame of a native recording.
func frame(b []byte) int {
	if bytes.HasPrefix(b, []byte(wire.Magic)) {
		return wire.PreambleSize
	}
	if len(b) < wire.FrameHeaderSize {
		return len(b)
	}
	return wire.FrameHeaderSize + int(binary.LittleEndian.Uint32(b))
}

// chunkHeader is the length of the header of a chunk of a flight recording.
const chunkHeader = 68

// event returns the length of the header of a chunk, or of an event, of a flight recording: events begin with their size, seven bits a byte.
func event(b []byte) int {
	if bytes.HasPrefix(b, []byte(jfr.Magic)) {
		return chunkHeader
	}
	size, _ := binary.Uvarint(b)
	return int(size)
}

// No history has a rest that is not in pieces.
func TestPieces(t *testing.T) {
	all := histories(t)
	for i := range all {
		list := pieces(&all[i])
		assert.Greater(t, len(list), 4, all[i].name)
		for _, p := range list {
			assert.Len(t, p, sizer(&all[i])(p), all[i].name)
		}
	}
}
