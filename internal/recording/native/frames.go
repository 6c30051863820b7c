// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/binary"
	"fmt"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// frames cuts pushed bytes into frames, and finds the next one where something is broken.
type frames struct {
	limit  int
	take   func(wire.Frame) // payload is good until it returns
	told   func(recording.Problem)
	rest   []byte // of a frame that is not whole yet
	offset int64  // of rest, or of what comes next
	number uint64
	lost   int64 // where the frames were lost; -1: they are not
}

const headerSize = wire.FrameHeaderSize

// push takes the next bytes.
func (f *frames) push(p []byte) {
	if len(f.rest) > 0 {
		f.rest = append(f.rest, p...)
		p = f.rest
	}
	n := f.cut(p)
	f.offset += int64(n)
	f.rest = append(f.rest[:0], p[n:]...)
}

// cut gives all whole frames to take, and returns how many bytes these have.
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
			return n // what is behind it will tell
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

func isPreamble(b []byte) bool {
	return len(b) >= len(wire.Magic) && string(b[:len(wire.Magic)]) == wire.Magic
}

// sizeAt returns the bytes of the frame, or the preamble, that begins here.
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

// plausible reports whether frames may go on here: this one is of a known kind, and behind it there is another.
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

// found tells that frames go on.
func (f *frames) found(at int64) {
	if f.lost < 0 {
		return
	}
	f.told(recording.Problem{
		Byte: f.lost, What: "there is no frame here", Remedy: fmt.Sprintf("reading goes on %d bytes behind; what was between is missing", at-f.lost),
	})
	f.lost = -1
}

// close tells what is left over.
func (f *frames) close() {
	switch {
	case f.lost >= 0:
		f.told(recording.Problem{Byte: f.lost, What: "there is no frame here, nor behind", Remedy: "what was before is read"})
	case len(f.rest) > 0:
		f.told(recording.Problem{
			Byte: f.offset, What: fmt.Sprintf("the recording breaks off in the middle of a frame, of which %d bytes are there", len(f.rest)),
			Remedy: "what was before is read",
		})
	}
}
