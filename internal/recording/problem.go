// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"
)

// Problem describes malformed input.
type Problem struct {
	File   string
	Line   uint64 // from 1; 0 if the format has no lines
	Byte   int64  // offset in the decoder's input, after decompression
	What   string // one line
	Remedy string // one line; empty if there is none
	Lost   uint64 // events that could not be read because of it
}

// Error returns one line: file:line (byte n): what; remedy.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	fmt.Fprintf(&b, " (byte %d): %s", p.Byte, p.What)
	if p.Remedy != "" {
		b.WriteString("; " + p.Remedy)
	}
	return b.String()
}

// Stats counts what a Decoder has read.
type Stats struct {
	Bytes    int64
	Events   uint64 // passed to the sink
	Lost     uint64 // known to be missing or unreadable
	Unknown  uint64 // records of unknown types; not included in Lost
	Problems uint64 // including those above Options.MaxProblems
}
