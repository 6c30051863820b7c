// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"errors"
)

// Room says how much more text a Scan can wait for.
type Room uint8

// The amounts of room.
const (
	RoomMore Room = iota // more text may come
	RoomFull             // the record is longer than it may be: it has to be given up
	RoomEnd              // this is all
)

// Scan takes the record at the front of text and returns how many bytes it has, 0 if there is no whole one. What it leaves comes again with
// more text behind it. With RoomFull and RoomEnd it has to take something.
type Scan func(text []byte, room Room) int

// Text is what decoders of text formats have in common: it joins what was written into whole records, decodes what is not UTF-8, and knows
// where in the recording it is. It is the Decoder of a format that gives it a Scan.
type Text struct {
	*Batcher

	scan   Scan
	finish func() // at the end, before the last events are handed on; may be nil
	codec  codec
	raw    []byte // as written
	text   []byte // decoded, if the recording is not in UTF-8
	begun  bool
	closed bool
	bytes  int64
	lines  uint64 // ended before the text at hand
	offset int64  // of the text at hand
}

// NewText returns a decoder around scan.
func NewText(b *Batcher, scan Scan, finish func()) *Text {
	return &Text{Batcher: b, scan: scan, finish: finish}
}

// Position is where the record begins that Scan is looking at.
func (t *Text) Position() Problem { return Problem{Line: t.lines + 1, Byte: t.offset} }

var newline = []byte{'\n'}

var errClosed = errors.New("the decoder is closed")

// Write takes the next bytes of the recording.
func (t *Text) Write(p []byte) (int, error) {
	if t.closed {
		return 0, errClosed
	}
	t.bytes += int64(len(p))
	for done := 0; done < len(p); { // in pieces, so that what is kept does not depend on what is written at once
		n := min(len(p)-done, writePiece)
		t.raw = append(t.raw, p[done:done+n]...)
		done += n
		t.run(RoomMore)
		if err := t.Err(); err != nil {
			return done, err
		}
	}
	return len(p), nil
}

const writePiece = 64 << 10

// Close takes what is left.
func (t *Text) Close() error {
	if t.closed {
		return t.Err()
	}
	t.run(RoomEnd)
	t.closed = true
	if t.finish != nil {
		t.finish()
	}
	return t.Flush()
}

// Stats says what was read so far.
func (t *Text) Stats() Stats {
	s := t.Batcher.Stats()
	s.Bytes = t.bytes
	return s
}

// Encoding says in which encoding the rest of the recording is, from behind what the Scan at hand is about to return. It reports whether
// the encoding is known. A byte order mark, if there was one, is believed rather than this.
func (t *Text) Encoding(name string) bool {
	c, ok := findCodec(name)
	if ok && t.codec == nil {
		t.codec = c
	}
	return ok
}

func (t *Text) run(room Room) {
	if !t.begun {
		if len(t.raw) < len(bomUTF8) && room == RoomMore {
			return
		}
		t.begun = true
		var mark int
		t.codec, mark = findMark(t.raw)
		t.raw = t.raw[:copy(t.raw, t.raw[mark:])]
		t.offset += int64(mark)
	}
	if t.codec == nil {
		t.raw = t.raw[:copy(t.raw, t.raw[t.take(t.raw, room):])]
	}
	if t.codec == nil {
		return
	}
	n := 0
	t.text, n = t.codec(t.text, t.raw, room == RoomEnd)
	t.raw = t.raw[:copy(t.raw, t.raw[n:])]
	t.text = t.text[:copy(t.text, t.text[t.take(t.text, room):])]
}

// take lets scan take what it can.
func (t *Text) take(text []byte, room Room) (taken int) {
	limit, raw := t.opts.MaxRecord, t.codec == nil
	for taken < len(text) {
		rest := text[taken:]
		n := t.scan(rest, room)
		if n == 0 && room == RoomMore && len(rest) > limit {
			n = t.scan(rest, RoomFull)
		}
		if n == 0 {
			break
		}
		t.lines += uint64(bytes.Count(rest[:n], newline))
		t.offset += int64(n)
		taken += n
		if raw != (t.codec == nil) { // the rest is in another encoding
			break
		}
	}
	return taken
}
