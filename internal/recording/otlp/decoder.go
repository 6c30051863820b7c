// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Limits of a decoder.
const (
	// minRequest is the limit of a request in bytes unless Options.MaxRecord is larger: 4 096 spans, as thread_span sends them at once, have
	// 10 MB, and a batch processor may join several.
	minRequest = 64 << 20
	// maxObjects bounds the JSON objects of a request, which take up to 160 bytes each.
	maxObjects = 2 << 20
	// maxHeld bounds the spans, and what they imply, that are held back until their order is known, at 300 bytes each. thread_span sends 2 000
	// for a window by default.
	maxHeld = 1 << 19
	// maxSessions bounds the sessions of a file.
	maxSessions = 1000
)

// decoder reads a file. The sessions in it may be interleaved, as a collector of many JVMs writes them, but a Sink takes one after the other:
// the first one is passed on as far as memory requires, the others at the end.
type decoder struct {
	recording.Output

	split    *Splitter
	json     ptrace.JSONUnmarshaler
	shown    threadpdata.Shown
	stacks   stackTexts
	known    map[jvmthread.SessionID]*session
	sessions []*session // that are not passed on completely, in the order of their first spans
	limit    int        // of held
	held     int
	refused  bool // a session was refused
	closed   bool
}

// New returns a decoder of the spans of thread_span. Options.Reorder, if set, replaces the number of spans that are held back.
func New(options recording.Options, sink recording.Sink) recording.Decoder {
	limit := cmp.Or(max(options.Reorder, 0), maxHeld)
	d := &decoder{Output: recording.NewOutput(options, sink), known: make(map[jvmthread.SessionID]*session), limit: limit}
	d.split = NewSplitter(max(minRequest, options.MaxRecord), d.request)
	d.stacks.symbols = d.Options.Symbols
	return d
}

var errClosed = errors.New("the decoder is closed")

// Write implements recording.Decoder.
func (d *decoder) Write(p []byte) (int, error) {
	if d.closed {
		return 0, errClosed
	}
	d.Counts.Bytes += int64(len(p))
	if d.Err() == nil {
		_, _ = d.split.Write(p) // never fails
	}
	return len(p), d.Err()
}

// ReadFrom implements io.ReaderFrom.
func (d *decoder) ReadFrom(r io.Reader) (int64, error) { return recording.ReadPieces(d, r) }

// Flush passes on the windows of the first session up to the newest one, whose spans may not be complete.
func (d *decoder) Flush() error {
	if len(d.sessions) > 0 {
		s := d.sessions[0]
		s.release(s.newest)
	}
	return d.Err()
}

// Close implements recording.Decoder.
func (d *decoder) Close() error {
	if d.closed {
		return d.Err()
	}
	d.split.Close()
	d.closed = true
	for len(d.sessions) > 0 {
		d.finish()
	}
	for _, s := range d.known {
		if s.late > 0 {
			d.Problem(s.lateness())
		}
	}
	if n := d.Counts.Unknown; len(d.known) == 0 && n > 0 {
		d.ReportAt(0, fmt.Sprintf("none of %d spans is of Weft", n), "want those of the processor thread_span")
	}
	return d.Err()
}

// finish passes on the rest of the first session.
func (d *decoder) finish() {
	s := d.sessions[0]
	d.sessions = d.sessions[1:]
	s.finish()
}

// request takes a request of the file.
func (d *decoder) request(r *Request) {
	if d.Err() != nil {
		return
	}
	at := recording.Problem{Line: r.Line, Byte: r.Byte}
	if r.Err != nil {
		at.What, at.Remedy = "the request is "+r.Err.Error()+", and is skipped", "write smaller batches, or raise max_record_size"
		d.Problem(at)
		return
	}
	td, err := Unmarshal(&d.json, r.Text, maxObjects)
	if err != nil {
		at.What, at.Remedy = err.Error(), "the other lines are read; want lines of a file exporter or of weft convert"
		if r.Truncated {
			at.What, at.Remedy = "the request is truncated, and its spans are missing", "the collector was killed, or is still writing; the other lines are read"
		}
		d.Problem(at)
		return
	}
	for i := range td.ResourceSpans().Len() {
		d.resource(td.ResourceSpans().At(i), at)
	}
	for d.held > d.limit && d.Err() == nil {
		d.shrink()
	}
}

func (d *decoder) resource(rs ptrace.ResourceSpans, at recording.Problem) {
	announced, ok := threadpdata.SpansSession(rs.Resource())
	if !ok {
		for i := range rs.ScopeSpans().Len() {
			d.Counts.Unknown += uint64(rs.ScopeSpans().At(i).Spans().Len())
		}
		return
	}
	s := d.known[announced.ID]
	if s == nil {
		if len(d.known) == maxSessions {
			if !d.refused {
				d.refused = true
				at.What = fmt.Sprintf("the file has more than %d sessions; the further ones are skipped", maxSessions)
				at.Remedy = "split the file"
				d.Problem(at)
			}
			return
		}
		s = newSession(d, announced)
		d.known[announced.ID] = s
		d.sessions = append(d.sessions, s)
	}
	s.at = at
	for i := range rs.ScopeSpans().Len() {
		scope := rs.ScopeSpans().At(i)
		if threadpdata.IsCarrier(scope.Scope()) {
			d.Counts.Unknown += uint64(scope.Spans().Len())
			continue
		}
		for k := range scope.Spans().Len() {
			threadpdata.ReadSpan(scope.Spans().At(k), &d.shown)
			s.add(&d.shown)
		}
	}
}

// fewHeld is the part of what is held back that the first session must have for a part of it to be passed on. If it has less, the others need
// the memory: it ends.
const fewHeld = 8

// shrink passes on a part of the first session.
func (d *decoder) shrink() {
	s := d.sessions[0]
	if len(s.pieces) < d.held/fewHeld {
		d.finish()
		return
	}
	s.releaseHalf()
}
