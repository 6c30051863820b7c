// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package printable answers: how does a text that a JVM or a file chose reach a terminal? Characters that would move the cursor, begin a
// line, reorder their neighbours or hide are shown as escapes, as in JSON and Java: \n, \u001b, \u202e; bytes that are not UTF-8
// as \xff. Letters of scripts that are written from right to left are kept.
//
// What Weft stores and exports keeps the original names; only texts for people are changed, and the lines of logs.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns a text on one line with nothing but visible characters and spaces. It allocates nothing if the text is that already.
func Text(text string) string {
	if at := firstHidden(text, ""); at < len(text) {
		return escape(text, at, "")
	}
	return text
}

// Texts is Text for each element, in a new slice.
func Texts(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = Text(text)
	}
	return all
}

// Writer returns a writer that escapes all but line feeds. What it makes of JSON is JSON of the same value. A call of Write must not end
// within a character.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

func (w writer) Write(b []byte) (int, error) {
	const kept = "\n"
	text := string(b)
	at := firstHidden(text, kept)
	if at == len(text) {
		return w.to.Write(b)
	}
	if _, err := io.WriteString(w.to, escape(text, at, kept)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// firstHidden returns the index of the first character to escape, or the length of the text.
func firstHidden(text, kept string) int {
	for i := 0; i < len(text); {
		if c := text[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if (r == utf8.RuneError && size == 1 || hidden(r)) && !strings.ContainsRune(kept, r) {
			return i
		}
		i += size
	}
	return len(text)
}

// hidden reports whether a character is a control, a separator of lines, or one that shows nothing and may change how others are shown.
func hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r) // those are visible
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

func escape(text string, at int, kept string) string {
	var b strings.Builder
	b.WriteString(text[:at])
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case !hidden(r) || strings.ContainsRune(kept, r):
			b.WriteString(text[at : at+size])
		default:
			writeEscape(&b, r)
		}
		at += size
	}
	return b.String()
}

func writeEscape(b *strings.Builder, r rune) {
	switch r {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}
}
