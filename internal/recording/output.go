// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"cmp"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Output is the side of a decoder that faces its Sink: it counts what passes and stops calling the sink after its first error.
type Output struct {
	Options Options // with defaults filled in
	Counts  Stats

	sink Sink
	err  error
}

// NewOutput returns an Output with the defaults of the options filled in.
func NewOutput(options Options, sink Sink) Output {
	if options.Symbols == nil {
		options.Symbols = symbols.New(symbols.DefaultLimits())
	}
	options.MaxRecord = cmp.Or(max(options.MaxRecord, 0), DefaultMaxRecord)
	options.MaxProblems = cmp.Or(max(options.MaxProblems, 0), defaultMaxProblems)
	options.MaxUnpacked = cmp.Or(max(options.MaxUnpacked, 0), DefaultMaxUnpacked)
	options.UnpackedOption = cmp.Or(options.UnpackedOption, "max_unpacked_size")
	options.Reorder = cmp.Or(max(options.Reorder, 0), defaultReorder)
	return Output{Options: options, sink: sink}
}

// Err returns the sink's error, if any.
func (o *Output) Err() error { return o.err }

// Stats returns what was read so far.
func (o *Output) Stats() Stats { return o.Counts }

// Session passes a session to the sink.
func (o *Output) Session(session *Session) {
	if o.err == nil {
		o.err = o.sink.Session(session)
	}
}

// Batch passes a batch to the sink and counts its events.
func (o *Output) Batch(batch *Batch) {
	if o.err == nil {
		o.Counts.Events += uint64(len(batch.Events))
		o.err = o.sink.Batch(batch)
	}
}

// Problem counts a problem and passes it to the sink, up to Options.MaxProblems. An empty file name stands for the recording's.
func (o *Output) Problem(p Problem) {
	o.Counts.Problems++
	o.Counts.Lost += p.Lost
	if o.err != nil || o.Counts.Problems > uint64(o.Options.MaxProblems) {
		return
	}
	p.File = cmp.Or(p.File, o.Options.File)
	o.err = o.sink.Problem(p)
}

// ReportAt reports a problem at an offset that costs no known number of events.
func (o *Output) ReportAt(offset int64, what, remedy string) {
	o.Problem(Problem{Byte: offset, What: what, Remedy: remedy})
}

// End passes the end of a session to the sink.
func (o *Output) End(end End) {
	if o.err == nil {
		o.err = o.sink.End(end)
	}
}
