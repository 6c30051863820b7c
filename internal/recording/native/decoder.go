// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// Decoder reads a native recording.
type Decoder struct {
	recording.Output

	frames      frames
	definitions *definitions.Table

	began     bool // some session has begun
	greeted   bool // there was a hello since the last preamble
	foreign   bool // the last preamble has another version: skip everything up to the next one
	ended     bool
	id        jvmthread.SessionID
	start     int64          // offset of its hello
	offset    jvmthread.Time // to the wall clock
	last      uint64         // sequence number of the last batch
	before    uint64         // number of events in all batches so far
	watermark jvmthread.Time
	merger    merger
	threads   []jvmthread.Thread
	sums      wire.Aggregate
	undefined uint64 // events and series of the session that refer to a class or stack without a definition
}

var _ recording.Decoder = (*Decoder)(nil)

// NewDecoder returns a decoder for one recording.
func NewDecoder(options recording.Options, sink recording.Sink) *Decoder {
	d := &Decoder{Output: recording.NewOutput(options, sink), watermark: math.MinInt64}
	d.definitions = definitions.New(d.Options.Symbols)
	d.frames = frames{limit: max(d.Options.MaxRecord, wire.MaxFrame), take: d.take, report: d.ReportAt, lost: -1}
	return d
}

// Write implements recording.Decoder.
func (d *Decoder) Write(p []byte) (int, error) {
	if err := d.Err(); err != nil {
		return 0, err
	}
	d.Counts.Bytes += int64(len(p))
	d.frames.push(p)
	return len(p), d.Err()
}

// ReadFrom implements io.ReaderFrom.
func (d *Decoder) ReadFrom(r io.Reader) (int64, error) { return recording.ReadPieces(d, r) }

// Flush does nothing: events are held back only if they are after the watermark, and cannot be passed on before it.
func (d *Decoder) Flush() error { return d.Err() }

// Close passes on the remaining events. A recording without an end is valid: its JVM was killed.
func (d *Decoder) Close() error {
	if d.Err() == nil {
		d.frames.close()
		d.finish()
	}
	return d.Err()
}

// malformed reports a frame that cannot be read. It does nothing if err is nil.
func (d *Decoder) malformed(f wire.Frame, err error) {
	if err == nil {
		return
	}
	what := err.Error()
	var wrong *wire.Error
	if errors.As(err, &wrong) {
		what = wrong.What
	}
	d.ReportAt(f.Byte, what, "skipping the frame")
}

func (d *Decoder) take(f wire.Frame) {
	if d.Err() != nil || d.foreign && f.Kind != 0 {
		return
	}
	if f.Kind != 0 && f.Kind != wire.FrameHello && !d.greeted {
		d.ReportAt(f.Byte, f.Kind.String()+": precedes the hello", "skipping the frame")
		return
	}
	switch f.Kind {
	case 0:
		d.preamble(f)
	case wire.FrameHello:
		d.hello(f)
	case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
		d.define(f)
	case wire.FrameBatch:
		d.batch(f)
	case wire.FrameAggregate:
		d.aggregate(f)
	case wire.FrameEnd:
		d.end(f)
	case wire.FrameIndex, wire.FrameClock:
	default:
		d.Counts.Unknown++ // of a newer agent, or meaningless in a recording
	}
}

// preamble starts a recording, or another one appended to it.
func (d *Decoder) preamble(f wire.Frame) {
	d.finish()
	d.greeted = false
	d.definitions.Reset()
	version := binary.LittleEndian.Uint16(f.Payload[len(wire.Magic):])
	d.foreign = version != wire.Version
	if d.foreign {
		d.ReportAt(f.Byte, fmt.Sprintf("unknown protocol version %d", version), "read the recording with the version of Weft that wrote it")
	}
}

func (d *Decoder) hello(f wire.Frame) {
	var h wire.Hello
	if err := f.Hello(&h); err != nil {
		d.malformed(f, err)
		return
	}
	d.greeted = true
	if d.began && h.Session == d.id { // the agent has reconnected
		d.offset = jvmthread.Time(h.Wall - h.Monotonic)
		return
	}
	d.finish()
	d.id, d.offset, d.began, d.ended = h.Session, jvmthread.Time(h.Wall-h.Monotonic), true, false
	d.start, d.last, d.before, d.watermark = f.Byte, 0, 0, math.MinInt64
	d.Session(&recording.Session{ID: h.Session, PID: h.PID, Attributes: h.Attributes})
}

func (d *Decoder) define(f wire.Frame) {
	refused, err := d.definitions.Define(f)
	switch {
	case err != nil:
		d.malformed(f, err)
	case refused:
		d.ReportAt(f.Byte, f.Kind.String()+": too many definitions", "some names will be missing")
	case f.Kind == wire.FrameThread:
		th, _ := f.Thread() // Define has parsed it
		d.threads = append(d.threads, th)
	}
}

// finish passes on the events held back, at the end of a session.
func (d *Decoder) finish() {
	if !d.began || d.ended {
		return
	}
	if d.undefined > 0 {
		d.ReportAt(d.start, fmt.Sprintf("%d events of the session refer to a class or stack without a definition", d.undefined), "their names are missing")
		d.undefined = 0
	}
	sorted, _ := d.merger.merge(d.merger.begin(), d.watermark, math.MaxInt64)
	if len(sorted) > 0 || len(d.threads) > 0 {
		until := d.watermark
		if n := len(sorted); n > 0 {
			until = max(until, sorted[n-1].Time)
		}
		d.pass(&recording.Batch{Events: sorted, Watermark: until})
	}
}

func (d *Decoder) end(f wire.Frame) {
	e, err := f.End()
	if err != nil || d.ended {
		d.malformed(f, err)
		return
	}
	d.finish()
	d.ended = true
	reason := "exit"
	if e.Reason == wire.EndDetached {
		reason = "detached"
	}
	d.End(recording.End{Time: e.Time + d.offset, Reason: reason})
}
