// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"strconv"
	"strings"
)

// A stack may state where its frames are in the bytecode: after its text and the line "--", it has a line for each frame with the bytecode
// index, -1 in a native method, and the descriptor of the method: "17 (JI)V". A line is empty if that is not known of its frame. Only formats
// that have places in the bytecode need it, so Table.Stack leaves it out.

const codeLine = "\n--\n"

// AddCode states where in the bytecode the last frame is, unless the descriptor is unknown. What cannot fit is not collected: descriptors
// of 64 KiB for each of 1 024 frames would be 64 MiB.
func (b *StackBuilder) AddCode(descriptor string, index int32) {
	if descriptor == "" || len(b.code) > maxText || strings.ContainsAny(descriptor, "\r\n") {
		return
	}
	for ; b.coded < b.frames; b.coded++ {
		b.code = append(b.code, '\n')
	}
	b.code = strconv.AppendInt(b.code, int64(index), 10)
	b.code = append(append(b.code, ' '), descriptor...)
}

// Text returns a stack's text without the places in the bytecode.
func Text(stack string) string { return stack[:textLength(stack)] }

func textLength(stack string) int {
	if i := strings.Index(stack, codeLine); i >= 0 {
		return i
	}
	return len(stack)
}

// Code has the places of a stack's frames in the bytecode, the innermost first.
type Code struct{ rest string }

// Next returns the place of the next frame: a bytecode index, -1 in a native method, and the descriptor of the method. ok is false if it is
// not known.
func (c *Code) Next() (descriptor string, index int32, ok bool) {
	line, rest, _ := strings.Cut(c.rest, "\n")
	c.rest = rest
	number, descriptor, ok := strings.Cut(line, " ")
	if !ok || descriptor == "" {
		return "", 0, false
	}
	i, err := strconv.ParseInt(number, 10, 32)
	if err != nil || i < -1 {
		return "", 0, false
	}
	return descriptor, int32(i), true
}
