// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"bytes"
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// Limits on the metadata of a log. Frames of methods above them have no names.
const (
	maxMethods   = 1 << 17
	maxClasses   = 1 << 17
	maxMetaText  = 64 << 20 // bytes of names
	maxKnown     = 1 << 16  // cached stacks
	maxKnownText = 16 << 20
	lineSize     = 8
)

// stacks formats the stack traces in lines.
type stacks struct {
	decoder   *decoder
	files     []sidecar
	methods   map[uint64]*method
	low       map[uint32]*method // by the low half of the id, as logs have 64 bits where metadata has 32; nil if ambiguous
	classes   map[string]string  // source files by signature
	metaText  int
	known     map[string]jvmthread.StackID // by the text of the line
	knownText int
	text      symbols.StackBuilder
}

type method struct {
	class, name string
	signature   string // empty if the metadata lacks it
	lines       []line // ascending by start
}

type line struct {
	start  uint64
	number uint32
}

func (s *stacks) init(d *decoder) {
	*s = stacks{decoder: d, methods: make(map[uint64]*method), low: make(map[uint32]*method), classes: make(map[string]string)}
	for _, extension := range []string{ExtensionMeta, ExtensionClasses, ExtensionMethods} {
		s.files = append(s.files, s.newSidecar(extension))
	}
}

// find returns the stack at the end of a line: a comma, the depth, then pairs of method and location.
func (s *stacks) find(rest []byte) jvmthread.StackID {
	if len(rest) == 0 {
		return jvmthread.NoStack
	}
	if id, ok := s.known[string(rest)]; ok {
		return id
	}
	text, ok := s.format(rest[1:])
	if !ok {
		s.decoder.Report(0, "malformed stack trace; reading the event without it", "want <depth>(,<method>,<location>)*")
		return jvmthread.NoStack
	}
	id := s.decoder.Options.Symbols.InternStack(text)
	if s.known == nil || len(s.known) >= maxKnown || s.knownText+len(rest) > maxKnownText {
		s.known, s.knownText = make(map[string]jvmthread.StackID), 0
	}
	s.known[string(rest)] = id
	s.knownText += len(rest)
	return id
}

// format returns the text of a stack trace.
func (s *stacks) format(rest []byte) (text string, ok bool) {
	if rest, ok = unbracket(rest); !ok {
		return "", false
	}
	depth, n := parseDecimal(rest)
	if n == 0 || depth < 0 {
		return "", false
	}
	s.text.Begin()
	frames, truncated := int64(0), false
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
		truncated = truncated || !s.addFrame(id, location)
	}
	if frames != depth {
		return "", false
	}
	return s.text.End(truncated), true
}

func (s *stacks) addFrame(id, location uint64) bool {
	m := s.methods[id]
	if m == nil {
		m = s.low[uint32(id)]
	}
	switch {
	case id == 0:
		return s.text.Add("unknown", "", 0)
	case m == nil:
		return s.text.Add(fmt.Sprintf("method 0x%X", id), "", 0)
	}
	lineNumber := m.lineAt(location)
	added := s.text.Add(m.class+"."+m.name, s.classes[m.class], lineNumber)
	switch {
	case !added:
	case lineNumber < 0:
		s.text.AddCode(m.signature, -1)
	case location <= math.MaxInt32:
		s.text.AddCode(m.signature, int32(location))
	}
	return added
}

// lineAt returns the line of a location, as defined by jvmthread.Frame.
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

// afterComma parses a comma and a hexadecimal number, and returns the length of both, 0 if they are missing.
func afterComma(text []byte) (v uint64, n int) {
	if len(text) < 2 || text[0] != ',' {
		return 0, 0
	}
	if v, n = recording.ParseHex(text[1:]); n == 0 || n+1 < len(text) && text[n+1] != ',' {
		return 0, 0
	}
	return v, n + 1
}

// unbracket removes the brackets that a list may have.
func unbracket(text []byte) (inner []byte, ok bool) {
	if len(text) == 0 || text[0] != '[' {
		return text, true
	}
	if text[len(text)-1] != ']' {
		return nil, false
	}
	return text[1 : len(text)-1], true
}

// parseDecimal parses the decimal number of up to 18 digits at the start of text and returns its length, 0 if there is none.
func parseDecimal(text []byte) (v int64, n int) {
	digits := bytes.TrimPrefix(text, []byte{'-'})
	size := len(digits) - len(bytes.TrimLeft(digits, "0123456789"))
	n = len(text) - len(digits) + size
	v, err := strconv.ParseInt(string(text[:n]), 10, 64)
	if err != nil || size > 18 {
		return 0, 0
	}
	return v, n
}
