// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Encoder writes one session down, in one file or several. Its methods append to dst, whole records only, so that a file can be changed
// for the next between any two of them.
type Encoder interface {
	// Begin appends what stands at the front of a file.
	Begin(dst []byte, session *Session) []byte
	// Batch appends events, with the guarantees that Batch speaks of.
	Batch(dst []byte, batch *Batch) []byte
	// End appends what stands at the back of a file. End is nil if the session goes on in another file.
	End(dst []byte, end *End) []byte
	// Beside returns what has to be appended to the file beside the recording since it was called last, and the extension of that file.
	// Empty: there is nothing.
	Beside() (extension string, text []byte)
	// Stats says what was written so far.
	Stats() EncoderStats
}

// EncoderOptions are what encoders need to be told.
type EncoderOptions struct {
	Symbols *symbols.Table // that the ids of classes, stacks and threads are of
	Times   Times          // Origin is subtracted; Unit as the format lets it be chosen
	Stacks  bool           // write stacks, if the format carries them
}

// EncoderStats say what an Encoder did.
type EncoderStats struct {
	Written uint64
	Left    [jvmthread.NumKinds]uint64 // events that the format has no way to write
}

// TotalLeft is the number of events that were left out.
func (s *EncoderStats) TotalLeft() (n uint64) {
	for _, left := range s.Left {
		n += left
	}
	return n
}
