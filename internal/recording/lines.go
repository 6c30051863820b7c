// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"bytes"
	"fmt"
)

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
