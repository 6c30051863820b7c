// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// lines is a file of lines.
type lines struct {
	*decoder

	text text
	core javacore
	skip bool // the rest of a line that is too long
}

func newLines(d *decoder) *lines {
	l := &lines{decoder: d}
	l.use(d.Options.Symbols, d.add)
	return l
}

// use sets where names and dumps go.
func (l *lines) use(table *symbols.Table, found func(*dump)) {
	l.text.symbols, l.text.found = table, found
	l.core.symbols, l.core.found = table, found
}

// take takes a line without its end.
func (l *lines) take(line []byte) {
	if !l.core.line(line) {
		l.text.line(line)
	}
}

// scan implements recording.Scan.
func (l *lines) scan(text []byte, room recording.Room) int {
	n := bytes.IndexByte(text, '\n') + 1
	line := text[:max(n-1, 0)]
	if n == 0 {
		if room == recording.RoomMore {
			return 0
		}
		n, line = len(text), text
	}
	limit := l.Options.MaxRecord
	switch {
	case l.skip:
		l.skip = text[n-1] != '\n'
	case len(line) > limit:
		l.skip = text[n-1] != '\n'
		if l.text.section != outside {
			l.decoder.text.Report(0, fmt.Sprintf("the line is longer than %d bytes", limit), "check the file")
		}
	default:
		l.take(bytes.TrimSuffix(line, []byte{'\r'}))
	}
	return n
}

func (l *lines) finish() {
	l.core.finish()
	l.text.finish()
}
