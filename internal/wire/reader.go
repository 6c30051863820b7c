// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Error is a violation of the protocol, with its position. Connection errors are not of this type but are wrapped with the position too.
type Error struct {
	Frame uint64 // from 1; 0 is the preamble
	Byte  int64  // offset of the frame from the first byte of the connection
	What  string
}

// Error returns the message as one line.
func (e *Error) Error() string {
	if e.Frame == 0 {
		return e.What
	}
	return fmt.Sprintf("frame %d at byte %d: %s", e.Frame, e.Byte, e.What)
}

// Frame is a frame that was read.
type Frame struct {
	Kind    FrameKind
	Number  uint64 // from 1
	Byte    int64  // offset of its header
	Payload []byte // valid until the next frame is read
}

// Reader reads the frames of one direction of a connection.
type Reader struct {
	src     *bufio.Reader
	limit   int
	head    [FrameHeaderSize]byte // a field to avoid an allocation
	buf     []byte
	lent    *[]byte // where buf is from, if it is from buffers
	frames  uint64
	read    int64
	skipped uint64
	source  Source
}

// Source is asked before a frame is read that has not arrived yet. Nil means that there is nothing to ask.
type Source interface {
	// Await is called when the rest of a frame of a number of bytes must be awaited.
	Await(payload int)
	// Room is called before the buffer for frames changes its size; it may wait for room. An error ends the reading. If to is 0 there is
	// none.
	Room(from, to int) error
	// TryRoom is like Room, but does not wait.
	TryRoom(from, to int) bool
}

// readBuffer is small, since there is one for each agent; frames that do not fit are read directly.
const readBuffer = 16 << 10

// NewReader returns a reader that rejects payloads above limit bytes. It allocates memory as bytes arrive, not by the announced length.
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: bufio.NewReaderSize(src, readBuffer), limit: limit}
}

// SetLimit changes the limit of payloads.
func (r *Reader) SetLimit(limit int) { r.limit = limit }

// SetSource sets whom to ask.
func (r *Reader) SetSource(source Source) { r.source = source }

// Preamble reads the preamble and returns the agent's version of the protocol.
func (r *Reader) Preamble() (version uint16, err error) {
	var b [PreambleSize]byte
	n, err := io.ReadFull(r.src, b[:])
	r.read += int64(n)
	if n >= len(Magic) && string(b[:len(Magic)]) != Magic {
		return 0, &Error{What: fmt.Sprintf("preamble: begins with %q, want %q", b[:len(Magic)], Magic)}
	}
	if err != nil {
		return 0, fmt.Errorf("preamble: %w", unexpected(err))
	}
	return binary.LittleEndian.Uint16(b[len(Magic):]), nil
}

// Next returns the next frame of a known kind, or io.EOF if the stream ends between two frames.
func (r *Reader) Next() (Frame, error) {
	for {
		frame, err := r.next()
		if err != nil {
			return Frame{}, err
		}
		if frame.Kind.Known() {
			return frame, nil
		}
		r.skipped++
	}
}

// Skipped returns the number of frames of unknown kinds.
func (r *Reader) Skipped() uint64 { return r.skipped }

// Offset returns the number of bytes read so far.
func (r *Reader) Offset() int64 { return r.read }

func (r *Reader) next() (Frame, error) {
	if r.source != nil && cap(r.buf) > readBuffer {
		r.Release() // the next frame may be a long time coming
	}
	frame := Frame{Number: r.frames + 1, Byte: r.read}
	n, err := io.ReadFull(r.src, r.head[:])
	r.read += int64(n)
	if errors.Is(err, io.EOF) {
		return Frame{}, io.EOF
	}
	if err != nil {
		return Frame{}, frame.broken(err)
	}
	r.frames++
	frame.Kind = FrameKind(binary.LittleEndian.Uint16(r.head[4:]))
	length := binary.LittleEndian.Uint32(r.head[:])
	if uint64(length) > uint64(r.limit) {
		return Frame{}, frame.errorf("length %d exceeds the limit of %d bytes", length, r.limit)
	}
	if err := r.fill(int(length)); err != nil {
		return Frame{}, frame.broken(err)
	}
	frame.Payload = r.buf
	return frame, nil
}

// fill reads n bytes and takes memory as they arrive.
func (r *Reader) fill(n int) error {
	r.buf = r.buf[:0]
	if r.source != nil && n > r.src.Buffered() {
		r.source.Await(n)
	}
	for len(r.buf) < n {
		have := len(r.buf)
		step := min(n-have, max(have, readBuffer))
		if have == 0 && r.lend(n) {
			step = n
		} else if err := r.resize(have + step); err != nil {
			return err
		}
		r.buf = r.buf[:have+step]
		got, err := io.ReadFull(r.src, r.buf[have:])
		r.read += int64(got)
		if err != nil {
			return unexpected(err)
		}
	}
	return nil
}

func (f Frame) errorf(format string, args ...any) error {
	name := f.Kind.String()
	if !f.Kind.Known() {
		name = fmt.Sprintf("kind %d", f.Kind)
	}
	return &Error{Frame: f.Number, Byte: f.Byte, What: name + ": " + fmt.Sprintf(format, args...)}
}

func (f Frame) broken(err error) error {
	return fmt.Errorf("frame %d at byte %d: %w", f.Number, f.Byte, err)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
