// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// appendUnescaped appends text with its references resolved. A reference to an entity that XML itself does not have is left as it stands.
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

// reference returns the character that a reference stands for, negative if there is none.
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

// isCharacter reports whether XML 1.0 allows the character (section 2.2).
func isCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000 && r <= utf8.MaxRune
}

// appendEscaped appends text for a value in quotes or between tags. What XML cannot hold becomes U+FFFD.
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
