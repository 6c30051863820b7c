// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"
)

// Problem is something wrong in a recording.
type Problem struct {
	File   string
	Line   uint64 // from 1; 0: the format has no lines
	Byte   int64  // where it begins, from 0, in the bytes that were written to the decoder (behind a decompressor)
	What   string // one line
	Remedy string // one line: what to do about it; empty if there is nothing to do
	Lost   uint64 // events that were not read because of it
}

// Error returns one line for a person: file:line (byte n): what; remedy.
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

// Stats says what was read so far.
type Stats struct {
	Bytes    int64
	Events   uint64 // handed to the sink
	Lost     uint64 // that were there, or are known to have been, and could not be read
	Unknown  uint64 // records of kinds that this program does not know; not counted as lost
	Problems uint64 // all of them, those too that the sink was not told of since there were too many
}
