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

// AppendFrame appends one line of a stack's text without the end of the line. Function is class and method; the line is as in
// jvmthread.Frame.
func AppendFrame(dst []byte, function, file string, line int) []byte {
	dst = append(append(dst, "at "...), function...)
	switch {
	case line < 0:
		return append(dst, "(Native Method)"...)
	case file == "" && line == 0:
		return append(dst, "(Unknown Source)"...)
	}
	dst = append(append(dst, '('), file...)
	if line > 0 {
		dst = strconv.AppendInt(append(dst, ':'), int64(line), 10)
	}
	return append(dst, ')')
}

// ParseFrame parses a line written by AppendFrame, with or without "at ". ok is false for other text.
func ParseFrame(line string) (f jvmthread.Frame, ok bool) {
	text, isFrame := strings.CutSuffix(strings.TrimPrefix(line, "at "), ")")
	open := strings.LastIndexByte(text, '(')
	if !isFrame || open < 0 {
		return f, false
	}
	function, source := text[:open], text[open+1:]
	dot := strings.LastIndexByte(function, '.')
	if dot < 0 { // "unknown" has no class
		dot = 0
	} else {
		f.Class = function[:dot]
		dot++
	}
	f.Method = function[dot:]
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
