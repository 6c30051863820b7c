// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// appendUnescaped appends text with its references resolved, except those to entities that XML does not predefine.
func appendUnescaped(dst, text []byte) []byte {
	for {
		at := bytes.IndexByte(text, '&')
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		text = text[at:]
		end := bytes.IndexByte(text[:min(len(text), maxReference)], ';')
		r := rune(-1)
		if end > 0 {
			r = reference(text[1:end])
		}
		if r < 0 {
			dst = append(dst, '&')
			text = text[1:]
			continue
		}
		dst = utf8.AppendRune(dst, r)
		text = text[end+1:]
	}
}

// reference returns the character that a reference denotes, a negative number if it is unknown.
func reference(name []byte) rune {
	switch string(name) {
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "amp":
		return '&'
	case "quot":
		return '"'
	case "apos":
		return '\''
	}
	if len(name) < 2 || name[0] != '#' {
		return -1
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	v, err := strconv.ParseUint(string(digits), base, 32)
	switch {
	case err != nil:
		return -1
	case !isCharacter(rune(v)):
		return utf8.RuneError
	}
	return rune(v)
}

// isCharacter reports whether XML 1.0 allows a character (section 2.2).
func isCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}

// appendEscaped appends text for an attribute value or for content. Characters that XML does not allow become U+FFFD.
func appendEscaped(dst []byte, text string, inValue bool) []byte {
	for _, r := range text {
		switch {
		case r == '&':
			dst = append(dst, "&amp;"...)
		case r == '<':
			dst = append(dst, "&lt;"...)
		case r == '>':
			dst = append(dst, "&gt;"...)
		case r == '"' && inValue:
			dst = append(dst, "&quot;"...)
		case r == '\r' || inValue && (r == '\n' || r == '\t'):
			dst = append(strconv.AppendInt(append(dst, "&#"...), int64(r), 10), ';')
		case !isCharacter(r):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// nameLength returns the length of the name at the start of text.
func nameLength(text []byte) int {
	for n, c := range text {
		if !nameChars[c] {
			return n
		}
	}
	return len(text)
}

var nameChars = func() (table [256]bool) {
	for c := range table {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		table[c] = letter || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c >= 0x80
	}
	return table
}()

// skipBlank returns the index of the first byte from n on that is not white space.
func skipBlank(text []byte, n int) int {
	for n < len(text) && (text[n] == ' ' || text[n] == '\n' || text[n] == '\t' || text[n] == '\r') {
		n++
	}
	return n
}
