// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The text of a stack is what the JVM prints: "at com.acme.OrderBook.add(OrderBook.java:42)", a line a frame, innermost first.

// Truncated is the last line of a stack that was deeper than the limit.
const Truncated = "..."

// maxFrames limits the frames of a stack.
const maxFrames = 1024

// StackBuilder builds the text of a stack within limits. It keeps its memory for the next stack.
type StackBuilder struct {
	text   []byte
	frames int
}

// Begin begins another stack.
func (b *StackBuilder) Begin() { b.text, b.frames = b.text[:0], 0 }

// Add adds a frame unless the limits are reached, and reports whether it did. Function is class and method; file and line are as in
// jvmthread.Frame.
func (b *StackBuilder) Add(function, file string, line int) bool {
	if b.frames == maxFrames || len(b.text) > maxText {
		return false
	}
	b.frames++
	text := append(append(b.startLine(), "at "...), function...)
	switch {
	case line < 0:
		text = append(text, "(Native Method)"...)
	case file == "" && line == 0:
		text = append(text, "(Unknown Source)"...)
	default:
		text = append(append(text, '('), file...)
		if line > 0 {
			text = strconv.AppendInt(append(text, ':'), int64(line), 10)
		}
		text = append(text, ')')
	}
	b.text = text
	return true
}

// End returns the text of the stack. Its last line is Truncated if some frames are missing.
func (b *StackBuilder) End(truncated bool) string {
	if truncated {
		b.text = append(b.startLine(), Truncated...)
	}
	return string(b.text)
}

func (b *StackBuilder) startLine() []byte {
	if len(b.text) == 0 {
		return b.text
	}
	return append(b.text, '\n')
}

// ParseFrame parses a line written by StackBuilder.Add, with or without "at ". ok is false for other text.
func ParseFrame(line string) (f jvmthread.Frame, ok bool) {
	text, isFrame := strings.CutSuffix(strings.TrimPrefix(line, "at "), ")")
	open := strings.LastIndexByte(text, '(')
	if !isFrame || open < 0 {
		return f, false
	}
	function, source := text[:open], text[open+1:]
	dot := strings.LastIndexByte(function, '.')
	if dot >= 0 { // "unknown" has no class
		f.Class = function[:dot]
	}
	f.Method = function[dot+1:]
	switch source {
	case "Native Method":
		f.Line = -1
		return f, true
	case "Unknown Source":
		return f, true
	}
	f.File = source
	if colon := strings.LastIndexByte(source, ':'); colon >= 0 {
		if n, err := strconv.ParseInt(source[colon+1:], 10, 32); err == nil && n > 0 {
			f.File, f.Line = source[:colon], int(n)
		}
	}
	return f, true
}
