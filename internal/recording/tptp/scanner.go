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
