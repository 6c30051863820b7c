// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"strings"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

// Format is how native recordings are read and written.
func Format() recording.Format {
	f := recording.Format{
		Name:  "native",
		Match: func(head []byte) bool { return strings.HasPrefix(string(head), wire.Magic) },
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
