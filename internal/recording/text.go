// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/transform"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Room informs a Scan how much more text can follow.
type Room uint8

// Values of Room.
const (
	RoomMore Room = iota // more text may follow
	RoomFull             // the record exceeds Options.MaxRecord and has to be given up
	RoomEnd              // the recording ends here
)

// Scan consumes the record at the start of text and returns its length in bytes, 0 if it is incomplete. The rest is passed again, followed
// by more text. With RoomFull and RoomEnd it has to consume something.
type Scan func(text []byte, room Room) int

// Text is a Decoder of a text format. It joins writes into whole records for a Scan, converts them to UTF-8, and tracks the position.
type Text struct {
	*Batcher

	scan    Scan
	finish  func() // called at the end, before the last events are passed on; may be nil
	codec   transform.Transformer
	raw     []byte // as written
	text    []byte // decoded, if the recording is not in UTF-8
	begun   bool
	closed  bool
	lines   uint64 // before the current text
	offset  int64  // of the current text
	unknown map[string]struct{}
}

// maxUnknown limits the unknown record types that are reported.
const maxUnknown = 16

// NewText returns a decoder that scans records. Finish, if not nil, is called after the last one.
func NewText(b *Batcher, scan Scan, finish func()) *Text {
	return &Text{Batcher: b, scan: scan, finish: finish, unknown: make(map[string]struct{})}
}

// Position returns a Problem at the start of the record being scanned.
func (t *Text) Position() Problem { return Problem{Line: t.lines + 1, Byte: t.offset} }

// Report reports a problem with the record being scanned.
func (t *Text) Report(lost uint64, what, remedy string) {
	p := t.Position()
	p.What, p.Remedy, p.Lost = what, remedy, lost
	t.Problem(p)
}

// Event adds the event of the record being scanned, or reports why it cannot.
func (t *Text) Event(ev *jvmthread.Event) {
	if !t.Add(ev) {
		t.Problem(t.Late(t.Position()))
	}
}

// Unknown counts a record of an unknown type and reports each type once. What is the format's word for a type.
func (t *Text) Unknown(what string, name []byte) {
	t.Counts.Unknown++
	if _, again := t.unknown[string(name)]; again || len(t.unknown) >= maxUnknown {
		return
	}
	t.unknown[string(name)] = struct{}{}
	t.Report(0, fmt.Sprintf("unknown %s %.40q; skipping it, here and below", what, name), "")
}

// Valid returns text with invalid UTF-8 replaced.
func Valid(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// ReadPieces implements io.ReaderFrom for a decoder whose writes are better large than many.
func ReadPieces(d io.Writer, r io.Reader) (n int64, err error) {
	return io.CopyBuffer(struct{ io.Writer }{d}, struct{ io.Reader }{r}, make([]byte, 1<<20))
}

var newline = []byte{'\n'}

var errClosed = errors.New("the decoder is closed")

// Write implements Decoder.
func (t *Text) Write(p []byte) (int, error) {
	if t.closed {
		return 0, errClosed
	}
	t.Counts.Bytes += int64(len(p))
	for done := 0; done < len(p); { // in pieces, so that memory does not depend on the size of writes
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

// Close implements Decoder.
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

// Encoding sets the encoding of the recording after what the current Scan is about to return, and reports whether it is known. A byte order
// mark takes precedence.
func (t *Text) Encoding(name string) bool {
	c, ok := findCodec(name)
	if ok && t.codec == nil {
		t.codec = c
	}
	return ok
}

// Peek scans the incomplete record at the end of what was written. It is scanned again when more of it is written.
func (t *Text) Peek() {
	rest := t.raw
	if t.codec != nil {
		rest = t.text
	}
	if len(rest) > 0 {
		t.scan(rest, RoomEnd)
	}
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
	t.text, n = appendDecoded(t.text, t.codec, t.raw, room == RoomEnd)
	t.raw = t.raw[:copy(t.raw, t.raw[n:])]
	t.text = t.text[:copy(t.text, t.text[t.take(t.text, room):])]
}

// take scans as many records as possible and returns their length.
func (t *Text) take(text []byte, room Room) (taken int) {
	limit, raw := t.Options.MaxRecord, t.codec == nil
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

// NewLines returns a decoder that passes each line to take, without its end (LF or CR LF). It skips empty lines, and reports and skips lines
// longer than Options.MaxRecord. Finish, if not nil, is called after the last line.
func NewLines(b *Batcher, take func(line []byte), finish func()) *Text {
	l := &lines{take: take}
	l.text = NewText(b, l.scan, finish)
	return l.text
}

type lines struct {
	text *Text
	take func([]byte)
	skip bool // the rest of a line that is too long
}

func (l *lines) scan(text []byte, room Room) int {
	n := bytes.IndexByte(text, '\n') + 1
	line := text[:max(n-1, 0)]
	if n == 0 {
		if room == RoomMore {
			return 0
		}
		n, line = len(text), text
	}
	limit := l.text.Options.MaxRecord
	switch {
	case l.skip:
		l.skip = text[n-1] != '\n'
	case len(line) > limit:
		l.skip = text[n-1] != '\n'
		l.text.Report(1, fmt.Sprintf("the line is longer than %d bytes", limit), "check the format of the recording, or raise max_record_size")
	default:
		if size := len(line); size > 0 && line[size-1] == '\r' {
			line = line[:size-1]
		}
		if len(line) > 0 {
			l.take(line)
		}
	}
	return n
}
