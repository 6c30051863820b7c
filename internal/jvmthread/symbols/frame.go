// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The text of a stack is what the JVM prints: "at com.acme.OrderBook.add(OrderBook.java:42)", a line a frame, innermost first. After the
// frame that takes a lock, the line "- lock Inventory.lock" may state how the source names the lock.

// Truncated is the last line of a stack that was deeper than the limit.
const Truncated = "..."

// maxFrames limits the frames of a stack.
const maxFrames = 1024

const (
	lockLine    = "- lock " // begins the line that names a lock
	maxLockName = 256       // bytes
)

// StackBuilder builds the text of a stack within limits. It keeps its memory for the next stack.
type StackBuilder struct {
	text   []byte
	code   []byte // see Code: a line break before each line
	frames int
	coded  int // lines of code
}

// Begin begins another stack.
func (b *StackBuilder) Begin() {
	const keep = 32 << 10 // a stack of 128 frames has about 10 KB
	if cap(b.text)+cap(b.code) > keep {
		*b = StackBuilder{}
	}
	*b = StackBuilder{text: b.text[:0], code: b.code[:0]}
}

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

// AddLock adds the name of the lock that the last frame takes. A name that does not fit in a line, or is too long, is left out.
func (b *StackBuilder) AddLock(name string) {
	if name == "" || len(name) > maxLockName || len(b.text) > maxText || strings.ContainsAny(name, "\r\n") {
		return
	}
	b.text = append(append(b.startLine(), lockLine...), name...)
}

// End returns the text of the stack, with the places in the bytecode if they are known and fit. Its last line is Truncated if some frames are
// missing.
func (b *StackBuilder) End(truncated bool) string {
	if truncated {
		b.text = append(b.startLine(), Truncated...)
	}
	if len(b.code) > 0 && len(b.text)+len(codeLine)+len(b.code) <= maxText {
		b.text = append(append(b.text, codeLine[:len(codeLine)-1]...), b.code...)
	}
	return string(b.text)
}

func (b *StackBuilder) startLine() []byte {
	if len(b.text) == 0 {
		return b.text
	}
	return append(b.text, '\n')
}

// ParseLock returns the name in a line written by StackBuilder.AddLock. ok is false for other text.
func ParseLock(line string) (name string, ok bool) {
	return strings.CutPrefix(line, lockLine)
}

// LockName returns the source's name for the lock that a stack takes: "Inventory.lock" for a field, static or not,
// "Inventory.rw.readLock()" for what a method returns, "local guard" for a variable. It is "" if it is not known.
func LockName(stack string) string {
	for line := range strings.SplitSeq(stack, "\n") {
		if name, ok := ParseLock(line); ok {
			return name
		}
	}
	return ""
}

// ParseFrame parses a line written by StackBuilder.Add, with or without "at ". ok is false for other text.
func ParseFrame(line string) (f jvmthread.Frame, ok bool) {
	if strings.HasPrefix(line, "- ") {
		return f, false
	}
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

// FunctionOf returns class and method of a line that ParseFrame parses, without a copy. ok is false for other text.
func FunctionOf(line string) (function string, ok bool) {
	if strings.HasPrefix(line, "- ") {
		return "", false
	}
	text, isFrame := strings.CutSuffix(strings.TrimPrefix(line, "at "), ")")
	open := strings.LastIndexByte(text, '(')
	if !isFrame || open < 0 {
		return "", false
	}
	return text[:open], true
}
