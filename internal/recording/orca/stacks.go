// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"fmt"
	"math"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// Limits on what is remembered of a log's metadata. What is above is left out: its frames have no names.
const (
	maxMethods   = 1 << 17
	maxClasses   = 1 << 17
	maxFrames    = 1024
	maxMetaText  = 64 << 20 // bytes of all names
	maxKnown     = 1 << 16  // stacks found without parsing them again
	maxKnownText = 16 << 20
	lineSize     = 8
)

// stacks makes texts of the stack traces in lines.
type stacks struct {
	decoder   *decoder
	files     []beside
	methods   map[uint64]*method
	low       map[uint32]*method // by the low half of their ids: a log has 64 bits where the metadata has 32; nil: several have it
	classes   map[string]string  // source files by signature
	metaText  int
	known     map[string]jvmthread.StackID // by the text in the line
	knownText int
	text      []byte
}

type method struct {
	class, name string
	lines       []line // ascending by start
}

type line struct {
	start  uint64
	number uint32
}

func newStacks(d *decoder) stacks {
	return stacks{
		decoder: d, methods: make(map[uint64]*method), low: make(map[uint32]*method), classes: make(map[string]string),
		files: []beside{{extension: ExtensionMeta}, {extension: ExtensionClasses}, {extension: ExtensionMethods}},
	}
}

// unknown is the method of frames of which nothing is known; its number is 0.
const unknown = "unknown"

// find returns the stack that is written behind the other fields: a comma, the depth, then pairs of method and location.
func (s *stacks) find(rest []byte) jvmthread.StackID {
	if len(rest) == 0 {
		return jvmthread.NoStack
	}
	if id, ok := s.known[string(rest)]; ok {
		return id
	}
	text, ok := s.format(rest[1:])
	if !ok {
		s.decoder.bad(0, "its stack trace is not <depth>,(<method>,<location>)*; the event is taken without it", "it may have been cut off")
		return jvmthread.NoStack
	}
	id := s.decoder.Symbols().InternStack(text)
	if s.known == nil || len(s.known) >= maxKnown || s.knownText+len(rest) > maxKnownText {
		s.known, s.knownText = make(map[string]jvmthread.StackID), 0
	}
	s.known[string(rest)] = id
	s.knownText += len(rest)
	return id
}

// format returns the text of a stack trace as symbols wants it.
func (s *stacks) format(rest []byte) (text string, ok bool) {
	if rest, ok = unbracket(rest); !ok {
		return "", false
	}
	depth, n := parseDecimal(rest)
	if n == 0 || depth < 0 {
		return "", false
	}
	s.text = s.text[:0]
	frames := 0
	for rest = rest[n:]; len(rest) > 0; frames++ {
		id, idSize := afterComma(rest)
		if idSize == 0 {
			return "", false
		}
		location, n := afterComma(rest[idSize:])
		if n == 0 {
			return "", false
		}
		rest = rest[idSize+n:]
		if frames < maxFrames {
			if frames > 0 {
				s.text = append(s.text, '\n')
			}
			s.text = s.appendFrame(s.text, id, location)
		}
	}
	if int64(frames) != depth {
		return "", false
	}
	if frames > maxFrames {
		s.text = append(append(s.text, '\n'), symbols.Truncated...)
	}
	return string(s.text), true
}

func (s *stacks) appendFrame(dst []byte, id, location uint64) []byte {
	m := s.methods[id]
	if m == nil {
		m = s.low[uint32(id)]
	}
	switch {
	case id == 0:
		return symbols.AppendFrame(dst, unknown, "", 0)
	case m == nil:
		return symbols.AppendFrame(dst, fmt.Sprintf("method 0x%X", id), "", 0)
	}
	return symbols.AppendFrame(dst, m.class+"."+m.name, s.classes[m.class], m.lineAt(location))
}

// lineAt returns the line of a location as jvmthread.Frame has it.
func (m *method) lineAt(location uint64) int {
	if location == math.MaxUint32 || location == math.MaxUint64 {
		return -1
	}
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i].start > location })
	if i == 0 || m.lines[i-1].number > math.MaxInt32 {
		return 0
	}
	return int(m.lines[i-1].number)
}

// afterComma reads a comma and a hexadecimal number, and returns how many bytes both have; 0: they are not there.
func afterComma(text []byte) (v uint64, n int) {
	if len(text) < 2 || text[0] != ',' {
		return 0, 0
	}
	if v, n = recording.ParseHex(text[1:]); n == 0 || n+1 < len(text) && text[n+1] != ',' {
		return 0, 0
	}
	return v, n + 1
}

// unbracket takes off the brackets that the description has around a list, if they are there.
func unbracket(text []byte) (inner []byte, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return text, true
	}
	if text[len(text)-1] != ']' {
		return nil, false
	}
	return text[1 : len(text)-1], true
}

// parseDecimal reads a decimal number of up to 18 digits at the front of text.
func parseDecimal(text []byte) (v int64, n int) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		n++
	}
	start := n
	for ; n < len(text) && text[n]-'0' <= 9 && n-start < 18; n++ {
		v = v*10 + int64(text[n]-'0')
	}
	if n == start || n < len(text) && text[n]-'0' <= 9 {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, n
}
