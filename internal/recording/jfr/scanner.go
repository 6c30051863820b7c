// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	windowSize  = 1 << 20
	maxConstant = 256 << 20 // bytes of a metadata or checkpoint event
	headOfEvent = 32        // enough for size and type
)

// Types of events that have the same number in each chunk.
const (
	typeMetadata   = 0
	typeCheckpoint = 1
)

// scanner walks over the events of a chunk.
type scanner struct {
	src io.ReaderAt
	raw bool
	pos int64 // of the next event
	end int64 // of what may be read
	buf []byte
	at  int64 // of buf
}

// event is one event as it stands in the file.
type event struct {
	at   int64
	kind int64  // id of its type
	body []byte // behind the type; good until the next event. Empty: it is too large to be looked at
}

// brokenEvent says where a chunk cannot be read on.
type brokenEvent struct {
	at   int64
	what string
	cut  bool // it only ends too early
}

func (b *brokenEvent) Error() string { return b.what }

// asBroken returns the error if it is a brokenEvent, else nil.
func asBroken(err error) *brokenEvent {
	if err == nil {
		return nil
	}
	var broken *brokenEvent
	errors.As(err, &broken)
	return broken
}

func newScanner(src io.ReaderAt, from, to int64, raw bool, buf []byte) *scanner {
	return &scanner{src: src, pos: from, end: to, raw: raw, buf: buf[:0], at: from}
}

// next returns the next event, io.EOF at the end, a brokenEvent if there is none where one should be, or an error of the source.
func (s *scanner) next() (event, error) {
	if s.pos >= s.end {
		return event{}, io.EOF
	}
	window, err := s.window(headOfEvent)
	if err != nil {
		return event{}, err
	}
	size, kind, head := s.head(window)
	switch {
	case head == 0 && int64(len(window)) == s.end-s.pos:
		return event{}, &brokenEvent{at: s.pos, what: "it breaks off in the middle of an event", cut: true}
	case head == 0 || size < int64(head):
		return event{}, &brokenEvent{at: s.pos, what: fmt.Sprintf("an event of %d bytes is none", size)}
	case size > s.end-s.pos:
		return event{}, &brokenEvent{at: s.pos, what: fmt.Sprintf("an event of %d bytes has only %d", size, s.end-s.pos), cut: true}
	}
	ev := event{at: s.pos, kind: kind}
	limit := int64(windowSize)
	if kind == typeMetadata || kind == typeCheckpoint {
		limit = maxConstant
	}
	if size > limit {
		s.pos += size
		return ev, nil
	}
	if int64(len(window)) < size {
		if window, err = s.window(int(size)); err != nil {
			return event{}, err
		}
	}
	ev.body = window[head:size]
	s.pos += size
	return ev, nil
}

// head reads size and type, and returns how many bytes these have; 0 if there are too few.
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

// window returns at least n bytes from pos on, less only at the end.
func (s *scanner) window(n int) ([]byte, error) {
	if have := s.at + int64(len(s.buf)) - s.pos; s.pos >= s.at && have >= min(int64(n), s.end-s.pos) && have >= 0 {
		return s.buf[s.pos-s.at:], nil
	}
	keep := 0
	if s.pos >= s.at && s.pos < s.at+int64(len(s.buf)) {
		keep = copy(s.buf, s.buf[s.pos-s.at:])
	}
	want := int(min(int64(max(n, windowSize)), s.end-s.pos))
	if cap(s.buf) < want {
		s.buf = append(make([]byte, 0, want), s.buf[:keep]...)
	}
	s.buf = s.buf[:want]
	got, err := s.src.ReadAt(s.buf[keep:], s.pos+int64(keep))
	s.at, s.buf = s.pos, s.buf[:keep+got]
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(s.buf) < want {
		s.end = s.at + int64(len(s.buf)) // it has become shorter
	}
	return s.buf, nil
}

// findChunk looks for where the next chunk begins, from a byte on; end if there is none. Since JDK 14 a chunk holds copies of its own header,
// one for each time that it was flushed: those of the header that is given, if one is, are passed over.
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

// isCopied reports whether at a byte there is a copy of the header, or the beginning of one at the end of the source.
func (h *header) isCopied(src io.ReaderAt, at int64) bool {
	var b [headerSize]byte
	n, _ := src.ReadAt(b[:], at) // what cannot be read is found when it is
	found, err := parseHeader(b[:n])
	return n < headerSize || err == nil && found.startTicks == h.startTicks && found.startNanos == h.startNanos
}
