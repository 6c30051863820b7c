// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/recording"
)

// define reads a line of either part and returns what is wrong with it, if anything.
func (s *stacks) define(text []byte) (wrong string) {
	if text[0] == 'L' || text[0] == '[' {
		return s.defineClass(text)
	}
	return s.defineMethod(text)
}

func (s *stacks) defineClass(text []byte) string {
	n := skipType(text)
	if n == 0 || n < len(text) && text[n] != ',' {
		return "missing class signature"
	}
	file := ""
	if n < len(text) {
		file = recording.Valid(text[n+1:])
	}
	if file == "" || !s.room(len(s.classes), maxClasses, n+len(file)) {
		return ""
	}
	s.classes[className(text[:n])] = file
	return ""
}

func (s *stacks) defineMethod(text []byte) string {
	id, n := recording.ParseHex(text)
	if n == 0 || n >= len(text) || text[n] != ',' {
		return "the line starts with neither a class nor a method number"
	}
	m, rest, ok := splitMethod(text[n+1:])
	if !ok {
		return "missing method name, signature or class"
	}
	if m.lines, ok = parseLines(rest); !ok {
		return "malformed line table"
	}
	if old := s.methods[id]; old != nil && old.class == m.class && old.name == m.name && old.signature == m.signature && len(old.lines) > len(m.lines) {
		return ""
	}
	if !s.room(len(s.methods), maxMethods, len(m.class)+len(m.name)+len(m.signature)+lineSize*len(m.lines)) {
		return ""
	}
	low := uint32(id)
	if other, taken := s.low[low]; !taken || other != nil && other == s.methods[id] {
		s.low[low] = m
	} else {
		s.low[low] = nil
	}
	s.methods[id] = m
	return ""
}

func (s *stacks) room(have, limit, bytes int) bool {
	if have >= limit || s.metaText+bytes > maxMetaText {
		return false
	}
	s.metaText += bytes
	return true
}

// splitMethod splits a line into name, signature and class, and the rest. Fields are not quoted, and a name may contain anything but '.', ';', '[' and '/'
// (JVMS 4.2.2), even commas: it ends where a valid signature, which may be empty, and a class follow.
func splitMethod(text []byte) (m *method, rest []byte, ok bool) {
	commas := 0
	for at := range text {
		if text[at] != ',' {
			continue
		}
		if commas++; commas > maxCommas {
			break
		}
		after := text[at+1:]
		n := skipSignature(after)
		if n >= len(after) || after[n] != ',' {
			continue
		}
		size := skipType(after[n+1:])
		if size == 0 {
			continue
		}
		end := n + 1 + size
		if end < len(after) && after[end] != ',' {
			continue
		}
		m = &method{name: recording.Valid(text[:at]), signature: recording.Valid(after[:n]), class: className(after[n+1 : end])}
		return m, after[min(end+1, len(after)):], true
	}
	return nil, nil, false
}

// maxCommas limits the commas in a method's name, and with them the work on a hostile line.
const maxCommas = 256

// skipSignature returns the length of the method descriptor (JVMS 4.3.3) at the start of text, 0 if there is none.
func skipSignature(text []byte) (n int) {
	if len(text) == 0 || text[0] != '(' {
		return 0
	}
	for n = 1; n < len(text) && text[n] != ')'; {
		size := skipType(text[n:])
		if size == 0 {
			return 0
		}
		n += size
	}
	if n++; n >= len(text) {
		return 0
	}
	if text[n] == 'V' {
		return n + 1
	}
	size := skipType(text[n:])
	if size == 0 {
		return 0
	}
	return n + size
}

// skipType returns the length of the field descriptor (JVMS 4.3.2) at the start of text, 0 if there is none.
func skipType(text []byte) (n int) {
	for n < len(text) && text[n] == '[' {
		n++
	}
	if n == len(text) {
		return 0
	}
	switch text[n] {
	case 'B', 'C', 'D', 'F', 'I', 'J', 'S', 'Z':
		return n + 1
	case 'L':
		if end := bytes.IndexByte(text[n:], ';'); end > 1 {
			return n + end + 1
		}
	}
	return 0
}

// className converts a signature to a name as Class.getName returns it. The dot of a hidden class becomes a slash.
func className(signature []byte) string {
	if signature[0] == 'L' {
		signature = signature[1 : len(signature)-1]
	}
	return swapDots(recording.Valid(signature))
}

// swapDots exchanges dots and slashes.
func swapDots(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '/':
			return '.'
		case '.':
			return '/'
		}
		return r
	}, s)
}

// parseLines parses a line table, which may be absent or have -1 entries.
func parseLines(text []byte) (lines []line, ok bool) {
	if text, ok = unbracket(text); !ok {
		return nil, false
	}
	if len(text) == 0 {
		return nil, true
	}
	count, n := parseDecimal(text)
	if n == 0 || count < -1 {
		return nil, false
	}
	for text = text[n:]; len(text) > 0; {
		start, size := afterComma(text)
		if size == 0 || size >= len(text) {
			return nil, false
		}
		number, digits := parseDecimal(text[size+1:])
		if digits == 0 || number < 0 || number > math.MaxUint32 {
			return nil, false
		}
		lines = append(lines, line{start: start, number: uint32(number)})
		text = text[size+1+digits:]
	}
	if int64(len(lines)) != max(count, 0) {
		return nil, false
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.start, b.start) })
	return lines, true
}
