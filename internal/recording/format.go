// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"io"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Format is a way in which thread events are written down.
type Format struct {
	Name string // as configurations have it: orca, tptp, triples, jfr, native
	// Match reports whether a recording that begins with head (HeadSize bytes, or all of it if it is shorter) looks like this format.
	Match func(head []byte) bool
	// New returns a decoder that tells sink what it finds.
	New func(Options, Sink) Decoder
	// NewEncoder returns an encoder; nil: the format is only read.
	NewEncoder func(EncoderOptions) Encoder
	// Carries is what the format can hold.
	Carries Capabilities
}

// HeadSize is how much of a recording is enough to tell its format.
const HeadSize = 4096

// Decoder reads one recording. It belongs to one goroutine at a time. Its errors are those of the sink; bad input is told to the sink.
type Decoder interface {
	// Write takes the next bytes of the recording, cut anywhere. It does not keep p.
	io.Writer
	// Flush hands on the events that are held back for the sake of order: for a recording that still grows, and is silent at the moment.
	// Events that come later with earlier times are late, and are told as a problem.
	Flush() error
	// Close says that there is no more, and hands on what is left. The decoder takes nothing after it.
	io.Closer
	// Stats says what was read so far.
	Stats() Stats
}

// Options are what all formats need to be told. Zero values stand for the defaults.
type Options struct {
	File    string         // the name that problems give
	Symbols *symbols.Table // texts are interned here, threads are kept here; nil: a new one
	Times   Times
	// Beside opens what belongs to the recording and is in another file: the one with this extension (".method") in place of the
	// recording's own. Nil, or fs.ErrNotExist: there is none.
	Beside func(extension string) (io.ReadCloser, error)
	// MaxRecord bounds the bytes of a line, an element or a frame; default DefaultMaxRecord. A longer one is skipped and told as a problem.
	MaxRecord int
	// MaxProblems bounds the problems that the sink is told of; default 100. Those above are counted only.
	MaxProblems int
	// MaxUnpacked bounds the bytes of the temporary file for a recording that has to be read more than once and comes in pieces: a flight
	// recording that is compressed or comes through a pipe; default DefaultMaxUnpacked. What is behind is told as a problem.
	MaxUnpacked int64
	// Reorder is for formats of single events: by how many events one may stand too late in the recording; default 4096.
	Reorder int
}

// DefaultMaxRecord has room for a stack of 1 000 frames in any format.
const DefaultMaxRecord = 1 << 20

// DefaultMaxUnpacked has room for most recordings, and leaves room on most disks.
const DefaultMaxUnpacked = 4 << 30

// Times says what the times of a recording mean, where the format leaves that open.
type Times struct {
	// Unit is the length of the recording's unit of time; 0: as the format says.
	Unit time.Duration
	// Origin is the wall-clock time of the recording's time 0: for formats whose times are not wall-clock times.
	Origin jvmthread.Time
	// First is the wall-clock time of the recording's first event, and is used in place of Origin unless it is NoTime.
	First jvmthread.Time
}
