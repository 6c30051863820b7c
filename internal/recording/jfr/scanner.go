// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/weft-otel/weft/internal/recording"
)

const (
	windowSize  = 1 << 20
	maxConstant = 256 << 20 // bytes of a metadata or checkpoint event
	headOfEvent = 32        // has room for size and type
)

const readingBefore = "reading everything before it"

// Event types with fixed ids.
const (
	typeMetadata   = 0
	typeCheckpoint = 1
)

// scanner iterates over the events of a chunk.
type scanner struct {
	event // that next has read

	src    io.ReaderAt
	raw    bool
	large  int64 // a type whose events may have maxDump bytes
	pos    int64 // of the next event
	end    int64 // of the readable part
	buf    []byte
	start  int64              // offset of buf
	broken *recording.Problem // the chunk is malformed or truncated there
	err    error              // of the source
}

// event is an event in the file.
type event struct {
	at   int64
	kind int64  // type id
	body []byte // after the type; valid until the next event; empty if it is too large
}

// malformed describes an event that does not have the expected form.
func malformed(what string, at int64, err error) *recording.Problem {
	return &recording.Problem{Byte: at, What: "malformed " + what + ": " + err.Error()}
}

// scan returns a scanner of a part of the chunk's source, which uses buf if that is large enough.
func (c *chunk) scan(from, to int64, buf []byte) *scanner {
	return &scanner{src: c.src, raw: c.raw, pos: from, end: to, buf: buf[:0], start: from}
}

// next reads the next event. It returns false at the end, before a malformed event, and after an error of the source.
func (s *scanner) next() bool {
	if s.pos >= s.end {
		return false
	}
	window, ok := s.window(headOfEvent)
	if !ok {
		return false
	}
	size, kind, head := s.head(window)
	switch {
	case head == 0 && int64(len(window)) == s.end-s.pos:
		s.broken = &recording.Problem{Byte: s.pos, What: "the chunk ends inside an event", Remedy: readingBefore}
		return false
	case head == 0 || size < int64(head):
		s.broken = &recording.Problem{Byte: s.pos, What: fmt.Sprintf("invalid event size of %d bytes", size)}
		return false
	case size > s.end-s.pos:
		what := fmt.Sprintf("the chunk ends inside an event: %d of %d bytes are present", s.end-s.pos, size)
		s.broken = &recording.Problem{Byte: s.pos, What: what, Remedy: readingBefore}
		return false
	}
	s.event = event{at: s.pos, kind: kind}
	limit := int64(windowSize)
	switch kind {
	case typeMetadata, typeCheckpoint:
		limit = maxConstant
	case s.large:
		limit = maxDump
	}
	if size <= limit {
		if int64(len(window)) < size {
			if window, ok = s.window(int(size)); !ok {
				return false
			}
		}
		s.body = window[head:size]
	}
	s.pos += size
	return true
}

// head reads size and type, and returns their length, 0 if they are incomplete.
func (s *scanner) head(b []byte) (size, kind int64, n int) {
	if !s.raw && len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 {
		return int64(b[0]), int64(b[1]), 2
	}
	c := cursor{b: b, raw: s.raw}
	size = c.int()
	kind = c.long()
	if c.failed {
		return size, kind, 0
	}
	return size, kind, len(b) - len(c.b)
}

// window returns at least n bytes from pos on, fewer only at the end. It returns false after an error of the source.
func (s *scanner) window(n int) (_ []byte, ok bool) {
	if have := s.start + int64(len(s.buf)) - s.pos; s.pos >= s.start && have >= min(int64(n), s.end-s.pos) && have >= 0 {
		return s.buf[s.pos-s.start:], true
	}
	keep := 0
	if s.pos >= s.start && s.pos < s.start+int64(len(s.buf)) {
		keep = copy(s.buf, s.buf[s.pos-s.start:])
	}
	want := int(min(int64(max(n, windowSize)), s.end-s.pos))
	if cap(s.buf) < want {
		s.buf = append(make([]byte, 0, want), s.buf[:keep]...)
	}
	s.buf = s.buf[:want]
	got, err := s.src.ReadAt(s.buf[keep:], s.pos+int64(keep))
	s.start, s.buf = s.pos, s.buf[:keep+got]
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
		return nil, false
	}
	if len(s.buf) < want {
		s.end = s.start + int64(len(s.buf)) // the file has become shorter
	}
	return s.buf, true
}

// findChunk returns the offset of the next chunk from an offset on, end if there is none. Since JDK 14 a chunk contains a copy of its own header
// for each flush: copies of own, if not nil, are skipped.
func findChunk(src io.ReaderAt, from, end int64, buf []byte, own *header) (int64, error) {
	const pattern = Magic + "\x00\x02" // and the major version
	buf = buf[:cap(buf)]
	for at := from; at < end; {
		n, err := src.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := 0; ; i++ {
			next := bytes.Index(buf[i:n], []byte(pattern))
			if next < 0 {
				break
			}
			i += next
			if own == nil || !own.isCopied(src, at+int64(i)) {
				return at + int64(i), nil
			}
		}
		if n <= len(pattern) {
			break
		}
		at += int64(n - len(pattern) + 1)
	}
	return end, nil
}

// isCopied reports whether there is a copy of the header at an offset, or the beginning of one at the end of the source.
func (h *header) isCopied(src io.ReaderAt, at int64) bool {
	var b [headerSize]byte
	n, _ := src.ReadAt(b[:], at) // reading the chunk will report an error
	found, err := parseHeader(b[:n])
	return n < headerSize || err == nil && found.startTicks == h.startTicks && found.startNanos == h.startNanos
}
