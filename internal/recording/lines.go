// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"fmt"
)

// NewLines returns a decoder that gives take each line, without its end (LF or CR LF). Lines that are empty or longer than
// Options.MaxRecord are left out; the latter are told as a problem.
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
	ends := text[n-1] == '\n'
	if l.skip {
		l.skip = !ends
		return n
	}
	if len(line) > l.text.opts.MaxRecord {
		l.tooLong()
		l.skip = !ends
		return n
	}
	if len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	if len(line) > 0 {
		l.take(line)
	}
	return n
}

func (l *lines) tooLong() {
	p := l.text.Position()
	p.What = fmt.Sprintf("the line is longer than %d bytes", l.text.opts.MaxRecord)
	p.Remedy = "look whether this is such a recording at all, or raise max_record_size"
	p.Lost = 1
	l.text.Problem(p)
}
