// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// stackTexts maps the stacks of spans to those of events. It remembers them, since few stacks are on many spans.
type stackTexts struct {
	symbols *symbols.Table
	known   map[stackText]jvmthread.StackID
	builder symbols.StackBuilder
}

// stackText is what spans say of a stack.
type stackText struct{ text, site, entry, lock string }

// maxStacks bounds the stacks that are remembered.
const maxStacks = 1 << 14

func (s *stackTexts) id(t stackText) jvmthread.StackID {
	if t.text == "" {
		return jvmthread.NoStack
	}
	id, ok := s.known[t]
	if !ok {
		if s.known == nil || len(s.known) >= maxStacks {
			s.known = make(map[stackText]jvmthread.StackID)
		}
		id = s.symbols.InternStack(s.build(&t))
		s.known[t] = id
	}
	return id
}

// build returns the frames that a span has of a stack. Among those that it leaves out, "... 19 frames", may be the entry of the library
// through which the application waits: what a thread waits for depends on it.
func (s *stackTexts) build(t *stackText) string {
	s.builder.Begin()
	text := strings.ToValidUTF8(t.text, "\uFFFD")
	entry := t.entry != "" && !strings.Contains(text, "at "+t.entry+"(")
	lock := t.lock != "" && symbols.LockName(text) == ""
	truncated := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if f, ok := symbols.ParseFrame(line); ok {
			function := f.Method
			if f.Class != "" {
				function = f.Function()
			}
			entry = entry && function != t.site // it is not outside of that
			truncated = !s.builder.Add(function, f.File, f.Line) || truncated
		} else if name, ok := symbols.ParseLock(line); ok {
			s.builder.AddLock(name)
		} else if line == symbols.Truncated {
			truncated = true
		} else if entry && strings.HasPrefix(line, symbols.Truncated+" ") {
			s.builder.Add(strings.ToValidUTF8(t.entry, "\uFFFD"), "", 0)
			entry = false
		}
		if lock && strings.HasPrefix(line, "at "+t.site+"(") {
			s.builder.AddLock(strings.ToValidUTF8(t.lock, "\uFFFD"))
			lock = false
		}
	}
	return s.builder.End(truncated)
}
