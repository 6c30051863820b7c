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
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// Decoder reads a native recording.
type Decoder struct {
	options     recording.Options
	sink        recording.Sink
	stats       recording.Stats
	err         error // of the sink; nothing goes on after it
	frames      frames
	buf         []byte
	definitions *definitions.Table

	began     bool // a session has
	greeted   bool // by the hello of the preamble at hand
	foreign   bool // the preamble names a version that is not ours: nothing is read until the next
	ended     bool
	id        jvmthread.SessionID
	offset    jvmthread.Time // to the wall clock
	last      uint64         // batch
	before    uint64         // events in all batches so far
	watermark jvmthread.Time
	merger    merger
	threads   []jvmthread.Thread
	sums      wire.Aggregate
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
	d := &Decoder{options: options, sink: sink, definitions: definitions.New(options.Symbols), watermark: math.MinInt64}
	d.frames = frames{limit: max(options.MaxRecord, wire.MaxFrame), take: d.take, told: d.problem, lost: -1}
	return d
}

// Write takes the next bytes.
func (d *Decoder) Write(p []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	d.stats.Bytes += int64(len(p))
	d.frames.push(p)
	return len(p), d.err
}

// ReadFrom reads to the end, in pieces as large as is good for speed.
func (d *Decoder) ReadFrom(r io.Reader) (n int64, err error) {
	if d.buf == nil {
		d.buf = make([]byte, 1<<20)
	}
	for d.err == nil {
		got, err := r.Read(d.buf)
		n += int64(got)
		_, _ = d.Write(d.buf[:got]) // the error is kept
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, errors.Join(err, d.err)
		}
	}
	return n, d.err
}

// Flush has nothing to do: what was held back is behind the watermark, and cannot be handed on before it.
func (d *Decoder) Flush() error { return d.err }

// Close hands on what is left. A JVM that was killed leaves a recording without an end, which is no problem.
func (d *Decoder) Close() error {
	if d.err != nil {
		return d.err
	}
	d.frames.close()
	d.finish()
	return d.err
}

// Stats says what was read so far.
func (d *Decoder) Stats() recording.Stats { return d.stats }

func (d *Decoder) problem(p recording.Problem) {
	d.stats.Problems++
	d.stats.Lost += p.Lost
	if d.err != nil || d.stats.Problems > uint64(max(0, d.options.MaxProblems)) {
		return
	}
	p.File = d.options.File
	d.err = d.sink.Problem(p)
}

// bad tells of a frame that makes no sense.
func (d *Decoder) bad(f wire.Frame, err error) {
	what := err.Error()
	var wrong *wire.Error
	if errors.As(err, &wrong) {
		what = wrong.What
	}
	d.problem(recording.Problem{Byte: f.Byte, What: what, Remedy: "the frame is passed over"})
}

func (d *Decoder) take(f wire.Frame) {
	if d.err != nil || d.foreign && f.Kind != 0 {
		return
	}
	switch f.Kind {
	case 0: // a preamble
		d.preamble(f)
		return
	case wire.FrameHello:
		var hello wire.Hello
		if err := f.Hello(&hello); err != nil {
			d.bad(f, err)
			return
		}
		d.hello(&hello)
		return
	}
	if !d.greeted {
		d.problem(recording.Problem{Byte: f.Byte, What: f.Kind.String() + ": comes before the hello", Remedy: "the frame is passed over"})
		return
	}
	switch f.Kind {
	case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
		d.define(f)
	case wire.FrameBatch:
		d.batch(f)
	case wire.FrameAggregate:
		d.aggregate(f)
	case wire.FrameEnd:
		end, err := f.End()
		if err != nil {
			d.bad(f, err)
			return
		}
		d.end(end)
	case wire.FrameIndex:
	default:
		d.stats.Unknown++ // of a newer agent, or of what recordings are not asked for
	}
}

// preamble begins a recording, or another one behind it.
func (d *Decoder) preamble(f wire.Frame) {
	d.finish()
	d.greeted = false
	d.definitions.Reset()
	version := binary.LittleEndian.Uint16(f.Payload[len(wire.Magic):])
	d.foreign = version != wire.Version
	if d.foreign {
		d.problem(recording.Problem{
			Byte: f.Byte, What: fmt.Sprintf("version %d of the protocol is not known here", version), Remedy: "read it with the version of Weft that wrote it",
		})
	}
}

func (d *Decoder) hello(h *wire.Hello) {
	d.greeted = true
	if d.began && h.Session == d.id {
		d.offset = jvmthread.Time(h.Wall - h.Monotonic)
		return // the agent came back, and goes on
	}
	d.finish()
	d.id, d.offset, d.began, d.ended = h.Session, jvmthread.Time(h.Wall-h.Monotonic), true, false
	d.last, d.before, d.watermark = 0, 0, math.MinInt64
	session := recording.Session{ID: h.Session, PID: h.PID}
	for _, a := range h.Attributes {
		session.Attributes = append(session.Attributes, recording.Attribute{Key: a.Key, Value: a.Value})
	}
	d.err = d.sink.Session(&session)
}

func (d *Decoder) define(f wire.Frame) {
	refused, err := d.definitions.Define(f)
	switch {
	case err != nil:
		d.bad(f, err)
	case refused:
		d.problem(recording.Problem{Byte: f.Byte, What: f.Kind.String() + ": there is no room for more definitions", Remedy: "names will be missing"})
	case f.Kind == wire.FrameThread:
		th, _ := f.Thread() // it was just read
		d.threads = append(d.threads, th)
	}
}

// finish hands on what was held back, when nothing more comes of the session.
func (d *Decoder) finish() {
	if !d.began || d.ended || d.err != nil {
		return
	}
	d.merger.begin()
	sorted, _ := d.merger.merge(nil, d.watermark, math.MaxInt64)
	if len(sorted) > 0 || len(d.threads) > 0 {
		until := d.watermark
		if n := len(sorted); n > 0 {
			until = max(until, sorted[n-1].Time)
		}
		d.hand(&recording.Batch{Events: sorted, Watermark: until})
	}
}

func (d *Decoder) end(e wire.End) {
	if d.ended {
		return
	}
	d.finish()
	d.ended = true
	reason := "exit"
	if e.Reason == wire.EndDetached {
		reason = "detached"
	}
	if d.err == nil {
		d.err = d.sink.End(recording.End{Time: e.Time + d.offset, Reason: reason})
	}
}
