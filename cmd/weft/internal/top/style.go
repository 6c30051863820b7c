// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import "strings"

// style is how a text is shown. Each style is readable without color: what a color says is also in the text.
type style uint8

const (
	plain style = iota
	bold
	faint
	reverse
	alarm   // a deadlock
	stopped // a thread that waits for a lock, a permit or a pooled object
	moving  // other waits
)

// codes are the parameters of SGR, among the 16 colors that users choose for their terminals.
var codes = [...]string{plain: "", bold: "1", faint: "2", reverse: "7", alarm: "1;31", stopped: "33", moving: "36"}

// painter adds styles to texts, or leaves them plain.
type painter bool

func (p painter) paint(s style, text string) string {
	if !p || s == plain || text == "" {
		return text
	}
	return "\x1b[" + codes[s] + "m" + text + "\x1b[m"
}

// span is a text in one style.
type span struct {
	text  string
	style style
}

// line shows spans in a width, and fills the rest with spaces.
func (p painter) line(width int, spans ...span) string {
	var b strings.Builder
	for _, s := range spans {
		text := cut(s.text, width)
		b.WriteString(p.paint(s.style, text))
		width -= cells(text)
	}
	b.WriteString(strings.Repeat(" ", max(0, width)))
	return b.String()
}
