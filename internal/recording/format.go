// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"io"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Format is a file format for thread events.
type Format struct {
	Name string // as in configurations: orca, tptp, triples, jfr, native
	// Extension is that of its files, such as ".orca".
	Extension string
	// Match reports whether a recording that starts with head looks like this format. Head has HeadSize bytes, or the whole recording.
	Match func(head []byte) bool
	// New returns a decoder that reports to the sink.
	New func(Options, Sink) Decoder
	// NewEncoder returns an encoder; nil if the format is read-only.
	NewEncoder func(EncoderOptions) Encoder
	// Carries describes what the format can represent.
	Carries Capabilities
}

// HeadSize is the number of bytes from which a format can be recognized.
const HeadSize = 4096

// Decoder reads one recording. It must not be used concurrently. It returns only errors of the sink; malformed input is reported to the sink.
type Decoder interface {
	// Write takes the next bytes of the recording, split anywhere. It does not retain p.
	io.Writer
	// Flush passes on the events held back for sorting, when a growing recording pauses. Earlier events that arrive afterwards are late and
	// reported as a problem.
	Flush() error
	// Close marks the end of the recording and passes on the remaining events.
	io.Closer
	// Stats returns what was read so far.
	Stats() Stats
}

// Joiner is a Decoder that reads several files as one recording.
type Joiner interface {
	Decoder

	// Next ends a file, after the Writes of its bytes. Those that follow are of another one, with a name for problems.
	Next(file string) error
}

// Options are common to all decoders. The zero value of a field selects its default.
type Options struct {
	File    string         // name used in problems
	Symbols *symbols.Table // interns strings and keeps threads; default: a new table
	Times   Times
	// Sidecar opens the file that belongs to the recording and has the given extension (".method") in place of the recording's own. There is
	// no such file if Sidecar is nil or returns fs.ErrNotExist.
	Sidecar func(extension string) (io.ReadCloser, error)
	// MaxRecord limits the bytes of a line, element or frame. Longer ones are skipped and reported. Default: DefaultMaxRecord.
	MaxRecord int
	// MaxProblems limits the problems reported to the sink; the rest are only counted. Default: 100.
	MaxProblems int
	// MaxUnpacked limits the bytes of the temporary file for a recording that needs several passes but cannot seek: a flight recording that
	// is compressed or piped. The excess is reported. Default: DefaultMaxUnpacked.
	MaxUnpacked int64
	// UnpackedOption is the name of MaxUnpacked for users. Default: max_unpacked_size.
	UnpackedOption string
	// Reorder is the number of places by which an event may be out of order, in formats of single events. Default: 4096.
	Reorder int
}

// DefaultMaxRecord has room for a stack of 1 000 frames in any format.
const DefaultMaxRecord = 1 << 20

// DefaultMaxUnpacked has room for most recordings and leaves room on most disks. To unpack as much takes less than a minute.
const DefaultMaxUnpacked = 4 << 30

const (
	defaultReorder     = 4096
	defaultMaxProblems = 100
)

// Times defines the time scale of a recording where its format does not.
type Times struct {
	// Unit is the recording's unit of time; 0: as the format defines.
	Unit time.Duration
	// Origin is the wall-clock time of the recording's time 0.
	Origin jvmthread.Time
	// First is the wall-clock time of the recording's first event. Unless NoTime, it replaces Origin.
	First jvmthread.Time
}
