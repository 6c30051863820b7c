// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package native reads and writes native recordings: the bytes of the stream protocol in a file, as written by an agent with file=PATH or by
// an exporter. A recording consists of a preamble, a hello, definitions, batches and, if the JVM ended in order, an end.
//
// The format is lossless and faster than any text. A truncated recording is valid up to its last complete frame. An index makes it possible
// to read part of a large file without reading the rest (Part). See docs/formats/native.md.
package native

import (
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// Format returns the native format.
func Format() recording.Format {
	f := recording.Format{
		Name:      "native",
		Extension: ".weft",
		Match:     isPreamble,
		New: func(options recording.Options, sink recording.Sink) recording.Decoder {
			return NewDecoder(options, sink)
		},
		NewEncoder: func(options recording.EncoderOptions) recording.Encoder { return NewEncoder(options) },
	}
	for i := range wire.Events {
		f.Carries.Events[wire.Events[i].Kind] = recording.Carried{Fields: ^recording.Fields(0), Flags: ^f.Carries.Events[0].Flags}
	}
	f.Carries.Aggregates = true
	f.Carries.Threads = ^recording.ThreadFields(0)
	return f
}
