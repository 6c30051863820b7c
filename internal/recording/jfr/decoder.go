// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Limits.
const (
	sliceRecords = 1 << 16   // records sorted at once, temporarily twice as many
	maxPushed    = 256 << 20 // bytes of a chunk that is written to the decoder, which keeps it in memory
	maxChunks    = 1 << 20
	maxEarly     = 1 << 20
	batchEvents  = 4096
)

// Decoder reads a recording. From a complete file (ReadFrom, which io.Copy uses) it reads chunks in place, and events that began before the chunk
// that contains them are sorted in. From a growing file (Write) it cannot do so: such events start late, which is reported as a problem.
type Decoder struct {
	recording.Output

	buf       []byte
	slice     slice
	blockSize int64
	splitter  splitter
	news      []jvmthread.Thread
	events    []jvmthread.Event // of the current batch
	watermark jvmthread.Time
	session   session
	source    int64 // offset of the current source in the recording
	late      uint64
	lost      uint64  // events that could not be read since the last batch
	lifted    bool    // overlapping chunks have been reported
	counts    counted // of all events

	pushed pushed
}

var _ recording.Decoder = (*Decoder)(nil)

// NewDecoder returns a decoder for one recording.
func NewDecoder(options recording.Options, sink recording.Sink) *Decoder {
	return &Decoder{Output: recording.NewOutput(options, sink), watermark: math.MinInt64, slice: slice{room: sliceRecords}, blockSize: blockSize, counts: counted{}}
}

// report reports a problem at an offset in the current source.
func (d *Decoder) report(at int64, what, remedy string) { d.ReportAt(d.source+at, what, remedy) }

func (d *Decoder) broken(p *recording.Problem) { d.report(p.Byte, p.What, p.Remedy) }

// count reports the events of a chunk that could not be read, the classes and stacks that they lack, and the events that its JVM lost.
func (d *Decoder) count(c *chunk, bad unread, undefined int) {
	d.Counts.Unknown += bad.strays // not lost: the states of other threads are known in spite of them
	if malformed := bad.malformed + d.slice.lost; malformed > 0 {
		d.slice.lost = 0
		d.lost += malformed
		d.Problem(recording.Problem{
			Byte: d.source + c.at, What: fmt.Sprintf("%d events of the chunk do not match its metadata", malformed), Lost: malformed,
		})
	}
	if truncated := c.complete() && c.end-c.at < c.size; undefined > 0 && !truncated && !c.damaged { // else it is the consequence of a reported problem
		d.report(c.at, fmt.Sprintf("events refer to %d classes and stacks that the chunk does not define", undefined), "their names are missing")
	}
	if n := c.about.large; n > 0 {
		d.report(c.at, fmt.Sprintf("%d thread dumps have more than %d bytes", n, maxDump), "waits that have not ended may be missing")
	}
	if lost := c.about.lost; lost > 0 {
		d.report(c.at, fmt.Sprintf("the JVM dropped %d bytes of events because its buffers were full", lost),
			"give the recorder more memory, for example -XX:FlightRecorderOptions:memorysize=64m")
	}
}

// pass passes the first events of the splitter to the sink in batches. None before until will follow.
func (d *Decoder) pass(n int, until jvmthread.Time) {
	keys, floor := d.splitter.keys[:n], d.watermark
	if n > 0 && keys[0].time < floor && !d.lifted {
		d.lifted = true
		d.report(0, "chunks of one JVM overlap in time; their events are moved to a later time", "read concatenated files separately")
	}
	for d.Err() == nil {
		d.events = d.splitter.appendEvents(d.events[:0], keys[:min(len(keys), batchEvents)])
		keys = keys[len(d.events):]
		lift(d.events, floor)
		batch := recording.Batch{Threads: d.news, Events: d.events, Lost: d.lost}
		switch {
		case len(keys) > 0:
			batch.Watermark = max(keys[0].time, floor)
		case until != math.MaxInt64:
			batch.Watermark = until
		case len(batch.Events) > 0:
			batch.Watermark = batch.Events[len(batch.Events)-1].Time
		default:
			batch.Watermark = d.watermark
		}
		if len(batch.Threads) == 0 && len(batch.Events) == 0 && batch.Lost == 0 && batch.Watermark <= d.watermark {
			return
		}
		d.watermark = max(d.watermark, batch.Watermark)
		batch.Watermark = d.watermark
		d.Batch(&batch)
		d.news, d.lost = d.news[:0], 0
		if len(keys) == 0 {
			return
		}
	}
}

// lift moves events that are too late to the watermark. They are in chunks that overlap, which no JVM writes.
func lift(events []jvmthread.Event, watermark jvmthread.Time) {
	for i := 0; i < len(events) && events[i].Time < watermark; i++ {
		events[i].Time = watermark
	}
}

func (d *Decoder) names(c *chunk) *names {
	return newNames(c.pools, d.Options.Symbols, d.define)
}

// define defines a thread, if that is new.
func (d *Decoder) define(th jvmthread.Thread) {
	if d.Options.Symbols.Thread(th.ID) == th {
		return
	}
	d.Options.Symbols.SetThread(th)
	d.news = append(d.news, th)
}
