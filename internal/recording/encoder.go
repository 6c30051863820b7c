// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Encoder writes one session to one or more files. Its methods append whole records to dst, so that the caller can switch to the next file
// between any two calls.
type Encoder interface {
	// Begin appends the head of a file.
	Begin(dst []byte, session *Session) []byte
	// Batch appends events that meet the guarantees of Batch.
	Batch(dst []byte, batch *Batch) []byte
	// End appends the tail of a file. End is nil if the session continues in another file.
	End(dst []byte, end *End) []byte
	// Sidecars returns what to write to the files that accompany the recording, since the last call. Last is set after the last batch.
	Sidecars(last bool) []Sidecar
	// Stats returns what was written so far.
	Stats() EncoderStats
}

// Sidecar is text for a file that accompanies a recording: has its name, with another extension.
type Sidecar struct {
	Extension string
	Text      []byte
	Replace   bool // the text replaces the file; otherwise it is appended
}

// EncoderOptions are common to all encoders.
type EncoderOptions struct {
	Symbols *symbols.Table // resolves the ids of classes, stacks and threads
	Times   Times          // Origin is subtracted; Unit applies if the format has a choice
	Stacks  bool           // write stacks if the format carries them
}

// EncoderStats counts the events that an Encoder has seen.
type EncoderStats struct {
	Written uint64
	Omitted [jvmthread.NumKinds]uint64 // events that the format cannot represent
}

// TotalOmitted returns the number of omitted events of all kinds.
func (s *EncoderStats) TotalOmitted() (total uint64) {
	for _, n := range s.Omitted {
		total += n
	}
	return total
}

// EventEncoder implements Encoder for formats that write one event after the other and need neither head nor tail nor sidecar. Append
// appends an event; it appends nothing if the format cannot represent the event.
type EventEncoder struct {
	Append func(dst []byte, ev *jvmthread.Event) []byte

	stats EncoderStats
}

// Begin implements Encoder.
func (*EventEncoder) Begin(dst []byte, _ *Session) []byte { return dst }

// Batch implements Encoder.
func (e *EventEncoder) Batch(dst []byte, batch *Batch) []byte {
	for i := range batch.Events {
		ev := &batch.Events[i]
		before := len(dst)
		if dst = e.Append(dst, ev); len(dst) > before {
			e.stats.Written++
		} else {
			e.stats.Omitted[ev.Kind]++
		}
	}
	return dst
}

// End implements Encoder.
func (*EventEncoder) End(dst []byte, _ *End) []byte { return dst }

// Sidecars implements Encoder.
func (*EventEncoder) Sidecars(bool) []Sidecar { return nil }

// Stats implements Encoder.
func (e *EventEncoder) Stats() EncoderStats { return e.stats }
