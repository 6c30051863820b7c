// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"bytes"
	"fmt"

	"github.com/weft-otel/weft/internal/recording"
)

// scanner finds tags and passes them to the decoder.
type scanner struct {
	decoder *decoder
	until   string // skip up to this; empty: nothing is being skipped
}

const (
	startOfComment    = "<!--"
	startOfCharacters = "<![CDATA["

	// Ends of text that can be skipped.
	endOfComment     = "-->"
	endOfInstruction = "?>"
	endOfCharacters  = "]]>"
	startOfTag       = "<"
)

// scan scans one tag, or the text up to the next one.
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
	n := skipBlank(text, end)
	switch {
	case n == len(text):
		return s.incomplete(text, room)
	case text[n] != '>':
		return s.malformed(n, "an end tag is not closed")
	}
	s.decoder.end(localName(text[2:end]))
	return n + 1
}

// skip skips text up to s.until, and s.until too unless it is the start of a tag.
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

// characters scans text up to the next tag, without splitting a reference.
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

// maxReference is the maximum length of a reference, such as &#x10FFFF;.
const maxReference = 12

// tag scans a start tag, which may be empty.
func (s *scanner) tag(text []byte, room recording.Room) int {
	d := s.decoder
	n := 1 + nameLength(text[1:])
	switch n {
	case 1:
		return s.malformed(1, "a tag has no name")
	case len(text):
		return s.incomplete(text, room)
	}
	name := localName(text[1:n])
	d.begin(name)
	for {
		if n = skipBlank(text, n); n == len(text) {
			return s.incomplete(text, room)
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
				return s.malformed(n+1, fmt.Sprintf("<%.40s> has a slash between attributes", name))
			}
			d.begun(true)
			return n + 2
		}
		key, value, size, wrong := attribute(text[n:])
		n += size
		switch {
		case wrong != "":
			return s.malformed(n, fmt.Sprintf("<%.40s> has an attribute %.40q without %s", name, key, wrong))
		case value == nil:
			return s.incomplete(text, room)
		}
		d.attribute(key, value)
	}
}

// attribute parses the attribute at the start of text and returns its size. It returns a nil value if the attribute is incomplete, or what is
// wrong at text[size].
func attribute(text []byte) (key, value []byte, size int, wrong string) {
	key = text[:nameLength(text)]
	n := skipBlank(text, len(key))
	switch {
	case n == len(text):
		return key, nil, n, ""
	case len(key) == 0:
		return key, nil, n, "a name"
	case text[n] != '=':
		return key, nil, n, "a value"
	}
	if n = skipBlank(text, n+1); n == len(text) {
		return key, nil, n, ""
	}
	quote := text[n]
	if quote != '"' && quote != '\'' {
		return key, nil, n, "quotes"
	}
	n++
	value = text[n:]
	if end := bytes.IndexByte(value, quote); end >= 0 {
		value, size = value[:end:end], n+end+1
	}
	if at := bytes.IndexByte(value, '<'); at >= 0 {
		return key, nil, n + at, "a closing quote"
	}
	if size == 0 {
		return key, nil, n, ""
	}
	return key, value, size, ""
}

func localName(name []byte) []byte {
	if at := bytes.LastIndexByte(name, ':'); at >= 0 {
		return name[at+1:]
	}
	return name
}

// incomplete waits for the rest of a tag, or skips the tag if there is no rest.
func (s *scanner) incomplete(text []byte, room recording.Room) int {
	switch room {
	case recording.RoomMore:
		return 0
	case recording.RoomFull:
		s.giveUp(fmt.Sprintf("a tag is longer than %d bytes", s.decoder.Options.MaxRecord), "shorten it, or raise max_record_size")
	case recording.RoomEnd:
		s.giveUp("the trace ends inside a tag", "it may be truncated")
	}
	s.until = startOfTag
	return len(text)
}

// malformed gives up a tag after n bytes and resumes at the next one.
func (s *scanner) malformed(n int, what string) int {
	s.giveUp(what, "skipping to the next tag; correct the trace")
	s.until = startOfTag
	return max(n, 1)
}

// giveUp reports a tag that cannot be read. It loses an event if it was the tag of one.
func (s *scanner) giveUp(what, remedy string) {
	lost := uint64(0)
	if s.decoder.forget() {
		lost = 1
	}
	s.decoder.Report(lost, what, remedy)
}
