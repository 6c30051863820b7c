// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/recording"
)

// declaration takes a comment, characters in CDATA, or a declaration of a document's type with all that is in it.
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

// begins reports whether all of the text may be the beginning of a longer one.
func begins(whole string, text []byte) bool {
	return len(text) < len(whole) && whole[:len(text)] == string(text)
}

// instruction takes a processing instruction or the declaration of XML itself. One that does not end is none.
func (s *scanner) instruction(text []byte, room recording.Room) int {
	at := bytes.Index(text, []byte(endOfInstruction))
	if at < 0 {
		if room == recording.RoomMore {
			return 0
		}
		return s.malformed(2, "a processing instruction does not end")
	}
	inner := text[2:max(at, 2)]
	n := nameLength(inner)
	switch string(inner[:n]) {
	case "xml":
		if wrong := bytes.IndexByte(inner, '<'); wrong >= 0 {
			return s.malformed(2+wrong, "the declaration of XML does not end")
		}
		if name := encoding(inner[n:]); len(name) > 0 && !s.decoder.text.Encoding(string(name)) {
			s.decoder.bad(0, fmt.Sprintf("the encoding %.40q is not known; it is read as UTF-8", name), "convert the trace to UTF-8, with iconv for example")
		}
	case instruction:
		s.decoder.ours = true
	}
	return at + len(endOfInstruction)
}

// encoding finds the encoding in a declaration of XML.
func encoding(text []byte) []byte {
	for {
		text = bytes.TrimLeft(text, " \t\r\n")
		n := nameLength(text)
		value, rest, ok := attribute(text[n:])
		if n == 0 || !ok {
			return nil
		}
		if string(text[:n]) == "encoding" {
			return value
		}
		text = rest
	}
}

// attribute takes what stands behind the name of an attribute: an equals sign and a value in quotes.
func attribute(text []byte) (value, rest []byte, ok bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '=' {
		return nil, nil, false
	}
	text = bytes.TrimLeft(text[1:], " \t\r\n")
	if len(text) == 0 || text[0] != '"' && text[0] != '\'' {
		return nil, nil, false
	}
	end := bytes.IndexByte(text[1:], text[0])
	if end < 0 {
		return nil, nil, false
	}
	return text[1 : 1+end], text[end+2:], true
}

// closed takes what ends with some characters. What is too long is skipped up to them.
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
		s.decoder.bad(0, "it breaks off", "")
	}
	return len(text)
}
