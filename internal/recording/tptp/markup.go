// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/recording"
)

// declaration scans a comment, a CDATA section, or a document type declaration with its content.
func (s *scanner) declaration(text []byte, room recording.Room) int {
	switch {
	case bytes.HasPrefix(text, []byte(startOfComment)):
		return s.closed(text, len(startOfComment), endOfComment, room, nil)
	case bytes.HasPrefix(text, []byte(startOfCharacters)):
		return s.closed(text, len(startOfCharacters), endOfCharacters, room, func(inner []byte) { s.decoder.characters(inner, false) })
	case room == recording.RoomMore && (begins(startOfComment, text) || begins(startOfCharacters, text)):
		return 0
	}
	depth, quote := 0, byte(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return s.incomplete(text, room)
}

// begins reports whether text may be the beginning of whole.
func begins(whole string, text []byte) bool {
	return len(text) < len(whole) && whole[:len(text)] == string(text)
}

// instruction scans a processing instruction or the XML declaration. One that does not end is malformed.
func (s *scanner) instruction(text []byte, room recording.Room) int {
	at := bytes.Index(text, []byte(endOfInstruction))
	if at < 0 {
		if room == recording.RoomMore {
			return 0
		}
		return s.malformed(2, "a processing instruction is not closed")
	}
	inner := text[2:max(at, 2)]
	n := nameLength(inner)
	switch string(inner[:n]) {
	case "xml":
		if wrong := bytes.IndexByte(inner, '<'); wrong >= 0 {
			return s.malformed(2+wrong, "the XML declaration is not closed")
		}
		if name := encoding(inner[n:]); len(name) > 0 && !s.decoder.Encoding(string(name)) {
			s.decoder.Report(0, fmt.Sprintf("unknown encoding %.40q; reading the trace as UTF-8", name), "convert the trace to UTF-8, for example with iconv")
		}
	case instruction:
		s.decoder.ours = true
	}
	return at + len(endOfInstruction)
}

// encoding returns the encoding in an XML declaration, nil if there is none.
func encoding(text []byte) []byte {
	for {
		text = text[skipBlank(text, 0):]
		key, value, n, _ := attribute(text)
		if value == nil || string(key) == "encoding" {
			return value
		}
		text = text[n:]
	}
}

// closed scans text that ends with a delimiter. If it is too long it is skipped.
func (s *scanner) closed(text []byte, from int, end string, room recording.Room, take func(inner []byte)) int {
	if at := bytes.Index(text[min(from, len(text)):], []byte(end)); at >= 0 {
		if take != nil {
			take(text[from : from+at])
		}
		return from + at + len(end)
	}
	switch room {
	case recording.RoomMore:
		return 0
	case recording.RoomFull:
		s.until = end
		return len(text) - len(end)
	case recording.RoomEnd:
		s.decoder.Report(0, "the trace ends inside a comment or a CDATA section", "it may be truncated")
	}
	return len(text)
}
