// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Sink receives what a Decoder reads. The goroutine that uses the decoder calls its methods, one at a time. After the first error the decoder
// does not call the sink again: the current Write, Flush or Close and all later ones return that error.
type Sink interface {
	// Session announces the session of the events that follow. It precedes the first batch. Another call ends the session before.
	Session(*Session) error
	// Batch delivers events. The batch is valid until Batch returns.
	Batch(*Batch) error
	// Problem reports malformed input. Problem.Lost is the number of events lost to it.
	Problem(Problem) error
	// End marks the end of the session. A truncated recording has no End.
	End(End) error
}

// Session describes the JVM of a recording.
type Session struct {
	ID          jvmthread.SessionID // zero if the format has none: the reader then derives one that is the same on each reading
	PID         uint32              // 0: unknown
	Attributes  []wire.Attribute    // resource attributes in OpenTelemetry's semantic conventions
	SingleEnded bool                // the end of a wait is one event, not two; see CompleteWaits
	Thresholds  []string            // minimum durations of recorded events, for people: "jdk.ThreadPark: 20ms"
	Unused      string              // events that are not read and may explain waits, for people: "9,212 jdk.ExecuteVMOperation"
	Dumps       []jvmthread.Time    // the only times at which it is known what threads did, rising; nil: it is known at all times
}

// Batch holds some events of a session.
type Batch struct {
	// Threads are new or updated definitions, which hold from the first event of this batch on.
	Threads []jvmthread.Thread
	// Events are ordered by time across all threads, and none is earlier than the Watermark of the previous batch. Class and stack ids are
	// those of Options.Symbols. Times are wall-clock times.
	Events []jvmthread.Event
	// Aggregate, if not nil, holds the sums of an agent in aggregated mode in place of Events, with ids and times as above. Encoders receive
	// it only if Capabilities.Aggregates is set.
	Aggregate *jvmthread.Aggregate
	// Watermark is a lower bound for the times of later batches. It never decreases.
	Watermark jvmthread.Time
	// Lost counts the events known to be missing since the previous batch, not including those reported by gap events.
	Lost uint64
}

// End is the end of a session.
type End struct {
	Time   jvmthread.Time
	Reason string // as in threadpdata: exit, detached, lost
}

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
	Unknown  uint64 // records of unknown types, or of threads that the recording does not define; not included in Lost
	Problems uint64 // including those above Options.MaxProblems
}
