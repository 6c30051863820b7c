// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Request is the text of an ExportTraceServiceRequest in a file, or of what is in its place.
type Request struct {
	Line      uint64 // where it begins, from 1
	Byte      int64
	Text      []byte // valid until the function that takes it returns
	Truncated bool   // it ends where the next one begins, in the middle of a string, or at the end of the file
	Err       error  // not nil: it is too long, and there is no text
}

// Splitter divides a file of OTLP JSON into requests. A file exporter writes one a line; several may also be on a line, and one may be on
// several lines. A collector that was killed while it wrote leaves a request without an end, to which the next one appends.
type Splitter struct {
	limit int
	take  func(*Request)

	buf     []byte // from the start of the current request
	at      int    // bytes of it that were scanned
	state   splitState
	depth   int
	tooDeep bool
	quoted  bool
	escaped bool
	line    uint64 // of the byte at at
	offset  int64  // of the start of buf
	began   uint64 // line of the start of the request
}

type splitState uint8

const (
	between splitState = iota
	inRequest
	inJunk   // up to the end of the line or the next request
	skipping // a request that is too long, up to the next one
)

// NewSplitter returns a Splitter that passes requests of up to limit bytes to take.
func NewSplitter(limit int, take func(*Request)) *Splitter {
	return &Splitter{limit: limit, take: take, line: 1}
}

// Line returns the number of the line up to which the file was read, from 1.
func (s *Splitter) Line() uint64 { return s.line }

// splitPiece bounds the memory that a write takes beyond the limit.
const splitPiece = 64 << 10

// Write takes the next bytes of the file, split anywhere.
func (s *Splitter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), splitPiece)
		s.buf = append(s.buf, rest[:n]...)
		rest = rest[n:]
		s.scan(false)
	}
	return len(p), nil
}

// Close marks the end of the file.
func (s *Splitter) Close() {
	s.scan(true)
	if len(s.buf) > 0 && (s.state == inRequest || s.state == inJunk) {
		s.pass(len(s.buf), s.state == inRequest)
	}
	s.buf, s.state = nil, between
}

func (s *Splitter) scan(last bool) {
	start := 0 // of the current request
	for s.at < len(s.buf) {
		c := s.buf[s.at]
		if c == '{' && (s.state != inRequest || s.at > start) {
			begins, sure := beginsRequest(s.buf[s.at:])
			if !sure && !last {
				break
			}
			if begins || s.state == between {
				if s.state == inRequest || s.state == inJunk {
					s.cut(&start, s.at, s.state == inRequest)
				}
				s.state, s.depth, s.tooDeep, s.quoted, s.escaped, s.began = inRequest, 0, false, false, false, s.line
				s.skip(&start, s.at)
			}
		}
		s.at++
		if c == '\n' {
			s.line++
		}
		switch s.state {
		case between:
			if isSpace(c) {
				s.skip(&start, s.at)
				continue
			}
			s.state, s.began = inJunk, s.line
		case inJunk:
			if c == '\n' {
				s.cut(&start, s.at, false)
			}
		case inRequest:
			if ended, broken := s.structure(c); ended || broken {
				s.cut(&start, s.at, broken)
			}
		case skipping:
			s.skip(&start, s.at)
		}
	}
	if s.state != between && s.state != skipping && s.at-start > s.limit {
		s.refuse("longer than %d bytes", s.limit)
		s.state = skipping
		s.skip(&start, s.at)
	}
	if start > 0 {
		s.buf = append(s.buf[:0], s.buf[start:]...)
		s.at -= start
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// structure follows the nesting of a request. It ends with its last bracket; it is broken if a line ends within a string.
func (s *Splitter) structure(c byte) (ended, broken bool) {
	if s.quoted {
		switch {
		case c == '\n':
			return false, true
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = false
		}
		return false, false
	}
	switch c {
	case '"':
		s.quoted = true
	case '{', '[':
		s.depth++
		s.tooDeep = s.tooDeep || s.depth > maxDepth
	case '}', ']':
		s.depth--
		return s.depth <= 0, false
	}
	return false, false
}

// skip moves the start of the current request.
func (s *Splitter) skip(start *int, to int) {
	s.offset += int64(to - *start)
	*start = to
}

// cut passes on what ends at an index of the buffer.
func (s *Splitter) cut(start *int, end int, truncated bool) {
	next := between
	switch text := s.buf[*start:end]; {
	case len(text) > s.limit:
		s.refuse("longer than %d bytes", s.limit)
		next = skipping // as if it had been refused before its end was read
	case s.tooDeep && s.state == inRequest:
		s.refuse("nested more than %d levels deep", maxDepth)
	default:
		s.take(&Request{Line: s.began, Byte: s.offset, Text: bytes.TrimSpace(text), Truncated: truncated})
	}
	s.skip(start, end)
	s.state = next
}

func (s *Splitter) pass(end int, truncated bool) {
	start := 0
	s.cut(&start, end, truncated)
}

func (s *Splitter) refuse(format string, limit int) {
	s.take(&Request{Line: s.began, Byte: s.offset, Err: fmt.Errorf(format, limit)})
}

// maxDepth bounds the nesting of a request: decoders call themselves for each level. Requests have 12 levels, and those of nested attributes.
const maxDepth = 100

// requestKey is the only key of a request. After a bracket it occurs nowhere else: in texts, quotes are escaped.
const requestKey = `"resourceSpans"`

// maxIndent bounds the white space between the bracket and the key of a request.
const maxIndent = 32

// beginsRequest reports whether a request begins with the bracket at the start of text. It is not sure if the text is too short.
func beginsRequest(text []byte) (begins, sure bool) {
	i := 1
	for i < len(text) && i <= maxIndent && isSpace(text[i]) {
		i++
	}
	rest := text[i:]
	if len(rest) >= len(requestKey) {
		return string(rest[:len(requestKey)]) == requestKey, true
	}
	return false, !strings.HasPrefix(requestKey, string(rest)) || i > maxIndent
}

// Unmarshal decodes a request if that takes no excessive memory: values take up to 160 bytes each, and only 3 in the text.
func Unmarshal(decoder *ptrace.JSONUnmarshaler, text []byte, limit int) (ptrace.Traces, error) {
	if n := bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("null")); n > limit {
		return ptrace.Traces{}, fmt.Errorf("%d objects, want at most %d; write smaller batches", n, limit)
	}
	td, err := decoder.UnmarshalTraces(text)
	if err != nil {
		return td, errors.New("not OTLP JSON") // the error quotes the input and names functions
	}
	return td, nil
}
