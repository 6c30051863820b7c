// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/recording"
)

// scanner finds tags, and gives them to the decoder around it.
type scanner struct {
	decoder *decoder
	until   string // what is skipped ends with this; empty: nothing is skipped
}

const (
	startOfComment    = "<!--"
	startOfCharacters = "<![CDATA["

	// Ends of what can be skipped.
	endOfComment     = "-->"
	endOfInstruction = "?>"
	endOfCharacters  = "]]>"
	startOfTag       = "<"
)

// scan takes one tag, or the text up to the next.
func (s *scanner) scan(text []byte, room recording.Room) int {
	if s.until != "" {
		return s.skip(text, room)
	}
	if text[0] != '<' {
		return s.characters(text, room)
	}
	if len(text) < 2 {
		return s.incomplete(text, room)
	}
	switch text[1] {
	case '!':
		return s.declaration(text, room)
	case '?':
		return s.instruction(text, room)
	case '/':
		return s.endTag(text, room)
	}
	return s.tag(text, room)
}

func (s *scanner) endTag(text []byte, room recording.Room) int {
	end := 2 + nameLength(text[2:])
	n := end
	for n < len(text) && isBlank(text[n]) {
		n++
	}
	switch {
	case n == len(text):
		return s.incomplete(text, room)
	case text[n] != '>':
		return s.malformed(n, "an end tag has no end")
	}
	s.decoder.end(localName(text[2:end]))
	return n + 1
}

// skip leaves out what comes before s.until, and what is until itself unless that is the start of a tag.
func (s *scanner) skip(text []byte, room recording.Room) int {
	if at := bytes.Index(text, []byte(s.until)); at >= 0 {
		n := at + len(s.until)
		if s.until == startOfTag {
			n = at
		}
		s.until = ""
		if n == 0 {
			return s.scan(text, room)
		}
		return n
	}
	if room != recording.RoomMore {
		return len(text)
	}
	return max(len(text)-len(s.until)+1, 0)
}

// characters takes text up to the next tag, without cutting a reference in two.
func (s *scanner) characters(text []byte, room recording.Room) int {
	n := bytes.IndexByte(text, '<')
	if n < 0 {
		n = len(text)
		if at := bytes.LastIndexByte(text[max(0, n-maxReference):], '&'); at >= 0 && room == recording.RoomMore {
			at += max(0, n-maxReference)
			if bytes.IndexByte(text[at:], ';') < 0 {
				n = at
			}
		}
	}
	s.decoder.characters(text[:n], true)
	return n
}

// maxReference is how long a reference can be: &#x10FFFF;.
const maxReference = 12

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

// tag takes a start tag, with or without content behind it.
func (s *scanner) tag(text []byte, room recording.Room) int {
	n := 1 + nameLength(text[1:])
	if n == 1 {
		return s.malformed(1, "a tag has no name")
	}
	if n == len(text) {
		return s.incomplete(text, room)
	}
	d := s.decoder
	name := localName(text[1:n])
	d.begin(name)
	for {
		for n < len(text) && isBlank(text[n]) {
			n++
		}
		if n == len(text) {
			break
		}
		switch text[n] {
		case '>':
			d.begun(false)
			return n + 1
		case '/':
			if n+1 == len(text) {
				return s.incomplete(text, room)
			}
			if text[n+1] != '>' {
				return s.malformed(n+1, "a tag has a slash in it")
			}
			d.begun(true)
			return n + 2
		}
		size := nameLength(text[n:])
		key := text[n : n+size]
		n += size
		for n < len(text) && isBlank(text[n]) {
			n++
		}
		if n == len(text) {
			break
		}
		if size == 0 || text[n] != '=' {
			return s.malformed(n, fmt.Sprintf("an attribute of <%.40s> has no name or no value", name))
		}
		for n++; n < len(text) && isBlank(text[n]); n++ { //nolint:revive // all is in the head
		}
		if n == len(text) {
			break
		}
		quote := text[n]
		if quote != '"' && quote != '\'' {
			return s.malformed(n, fmt.Sprintf("the value of the attribute %.40s of <%.40s> has no quotes", key, name))
		}
		value := text[n+1:]
		end := bytes.IndexByte(value, quote)
		if wrong := bytes.IndexByte(value[:max(end, 0)], '<'); wrong >= 0 || end < 0 && bytes.IndexByte(value, '<') >= 0 {
			return s.malformed(n+1+bytes.IndexByte(value, '<'), fmt.Sprintf("the value of the attribute %.40s of <%.40s> does not end", key, name))
		}
		if end < 0 {
			break
		}
		d.attribute(key, value[:end])
		n += end + 2
	}
	return s.incomplete(text, room)
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func localName(name []byte) []byte {
	if at := bytes.LastIndexByte(name, ':'); at >= 0 {
		return name[at+1:]
	}
	return name
}

// incomplete waits for the rest of a tag, or gives it up.
func (s *scanner) incomplete(text []byte, room recording.Room) int {
	switch room {
	case recording.RoomMore:
		return 0
	case recording.RoomFull:
		s.giveUp(fmt.Sprintf("a tag is longer than %d bytes", s.decoder.Options().MaxRecord), "raise max_record_size, or leave this out")
	case recording.RoomEnd:
		s.giveUp("the trace breaks off in a tag", "it may have been cut off")
	}
	s.until = startOfTag
	return len(text)
}

// malformed gives up a tag after n bytes of it, and goes on at the next.
func (s *scanner) malformed(n int, what string) int {
	s.giveUp(what, "mend the trace; it is read on from the next tag")
	s.until = startOfTag
	return max(n, 1)
}

// giveUp tells of a tag that cannot be read. It costs an event if it was to be one.
func (s *scanner) giveUp(what, remedy string) {
	lost := uint64(0)
	if s.decoder.forget() {
		lost = 1
	}
	s.decoder.bad(lost, what, remedy)
}
