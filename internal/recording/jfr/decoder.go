// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// Limits.
const (
	sliceRecords = 1 << 16   // records that are sorted at once, twice as many for a moment
	maxPushed    = 256 << 20 // bytes of a chunk that is pushed: it is kept in memory
	maxChunks    = 1 << 20
	maxEarly     = 1 << 20
	batchEvents  = 4096
)

// Decoder reads a recording. Given a file (ReadFrom, which io.Copy uses), it reads each chunk where it stands, and what a chunk says of the
// time before it goes where it belongs. Given bytes one after the other (Write), for a file that still grows, it cannot: what began before
// that which is handed on already begins late, and that is told as a problem.
type Decoder struct {
	options recording.Options
	sink    recording.Sink
	symbols *symbols.Table
	stats   recording.Stats
	err     error // of the sink; nothing goes on after it

	buf       []byte
	slice     slice
	splitter  splitter
	news      []jvmthread.Thread
	watermark jvmthread.Time
	session   session
	source    int64 // byte of the recording at which the source at hand begins
	late      uint64
	lifted    bool // something was, which is told once

	pushed pushed
}

var _ recording.Decoder = (*Decoder)(nil)

// NewDecoder returns a decoder for one recording.
func NewDecoder(options recording.Options, sink recording.Sink) *Decoder {
	if options.Symbols == nil {
		options.Symbols = symbols.New(symbols.DefaultLimits())
	}
	if options.MaxProblems == 0 {
		options.MaxProblems = 100
	}
	if options.MaxUnpacked <= 0 {
		options.MaxUnpacked = recording.DefaultMaxUnpacked
	}
	return &Decoder{
		options: options, sink: sink, symbols: options.Symbols, watermark: math.MinInt64,
		slice: slice{room: sliceRecords},
	}
}

// Stats says what was read so far.
func (d *Decoder) Stats() recording.Stats { return d.stats }

// problem tells of something wrong, unless there were too many.
func (d *Decoder) problem(p recording.Problem) {
	d.stats.Problems++
	d.stats.Lost += p.Lost
	if d.err != nil || d.stats.Problems > uint64(max(0, d.options.MaxProblems)) {
		return
	}
	p.File = d.options.File
	d.err = d.sink.Problem(p)
}

func (d *Decoder) broken(b *brokenEvent) {
	p := recording.Problem{Byte: d.source + b.at, What: b.what}
	if b.cut {
		p.Remedy = "what was before is read"
	}
	d.problem(p)
}

// count tells what of a chunk could not be read, and what its JVM lost.
func (d *Decoder) count(c *chunk, bad uint64) {
	if bad += d.slice.lost; bad > 0 {
		d.slice.lost = 0
		d.problem(recording.Problem{Byte: d.source + c.at, What: fmt.Sprintf("%d events of the chunk are not as its metadata says", bad), Lost: bad})
	}
	if lost := c.about.lost; lost > 0 {
		d.problem(recording.Problem{
			Byte: d.source + c.at, What: fmt.Sprintf("the JVM lost %d bytes of events, as its buffers were full", lost),
			Remedy: "give the recorder more memory, such as -XX:FlightRecorderOptions:memorysize=64m",
		})
	}
}

// hand gives events to the sink, in batches.
func (d *Decoder) hand(events []jvmthread.Event, until jvmthread.Time) {
	d.lift(events)
	for d.err == nil {
		batch := recording.Batch{Threads: d.news, Events: events[:min(len(events), batchEvents)]}
		events = events[len(batch.Events):]
		switch {
		case len(events) > 0:
			batch.Watermark = events[0].Time
		case until != math.MaxInt64:
			batch.Watermark = until
		case len(batch.Events) > 0:
			batch.Watermark = batch.Events[len(batch.Events)-1].Time
		default:
			batch.Watermark = d.watermark
		}
		if len(batch.Threads) == 0 && len(batch.Events) == 0 && batch.Watermark <= d.watermark {
			return
		}
		d.watermark = max(d.watermark, batch.Watermark)
		batch.Watermark = d.watermark
		d.stats.Events += uint64(len(batch.Events))
		d.err = d.sink.Batch(&batch)
		d.news = d.news[:0]
		if len(events) == 0 {
			return
		}
	}
}

// lift makes events that come too late those of now: of chunks that overlap, which no JVM writes.
func (d *Decoder) lift(events []jvmthread.Event) {
	n := 0
	for n < len(events) && events[n].Time < d.watermark {
		events[n].Time = d.watermark
		n++
	}
	if n > 0 && !d.lifted {
		d.lifted = true
		d.problem(recording.Problem{
			Byte: d.source, What: "chunks of one JVM overlap in time; events of later ones come late", Remedy: "read the files that were put together one by one",
		})
	}
}

func (d *Decoder) names(c *chunk) *names {
	return newNames(c.pools, d.symbols, func(th jvmthread.Thread) {
		if d.symbols.Thread(th.ID) == th {
			return
		}
		d.symbols.SetThread(th)
		d.news = append(d.news, th)
	})
}
