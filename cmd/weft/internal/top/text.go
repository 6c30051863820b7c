// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/weft-otel/weft/internal/printable"
)

// Names that a JVM chose can have any length. These are the bytes that are shown of a text and of a cell of a table.
const (
	maxText = 2048
	maxCell = 256
)

// clean makes a text from a JVM printable.
func clean(text string) string { return cleaned(text, maxText) }

func cleaned(text string, most int) string {
	if len(text) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return printable.Text(text)
}

// cells returns the columns of a terminal that a printable text takes.
func cells(text string) int { return ansi.StringWidth(text) }

// clip shortens a printable text to a width by omitting its middle, because names of threads differ at both ends.
func clip(text string, width int) string {
	all := cells(text)
	switch {
	case all <= width:
		return text
	case width <= 0:
		return ""
	}
	head := ansi.Truncate(text, width/2, "")
	room := width - 1 - cells(head)
	for omitted := all - room; omitted < all; omitted++ { // more than the difference if it would cut a wide character
		if tail := ansi.TruncateLeft(text, omitted, ""); cells(tail) <= room {
			return head + "…" + tail
		}
	}
	return head + "…"
}

// cut shortens a printable text to a width by omitting its end.
func cut(text string, width int) string { return ansi.Truncate(text, max(0, width), "…") }

// pad shortens a printable text to a width, and fills it with spaces on the left or on the right.
func pad(text string, width int, right bool) string {
	text = clip(text, width)
	space := strings.Repeat(" ", max(0, width-cells(text)))
	if right {
		return space + text
	}
	return text + space
}

// wrap breaks a printable text into at most so many lines.
func wrap(text string, width, most int) []string {
	if width <= 0 || most <= 0 {
		return nil
	}
	lines := strings.Split(ansi.Wrap(text, width, ""), "\n")
	for i := range lines {
		lines[i] = ansi.Truncate(strings.TrimRight(lines[i], " "), width, "")
	}
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = ansi.Truncate(lines[most-1], width-1, "") + "…"
	}
	return lines
}
