// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// pushed is a recording that comes piece by piece: the bytes of the chunk at hand.
type pushed struct {
	data    []byte
	done    int64 // bytes of data whose events were handed on; 0: the chunk has not begun
	pass    int64 // bytes to be passed over
	began   bool  // a session has
	ended   bool  // nothing is taken any more
	waiting bool  // a problem with the metadata was told already
}

// stateGuard is that of a header that is being changed.
const stateGuard = 255

// Survey looks at the heads of the chunks of a file. Readable is how much of it may be read: a JVM that writes a chunk comes back to what
// it has written, except for what is before the size in the header. Live says that the last chunk is written by a JVM, whole that all of
// the file is complete chunks: then it is better read as a whole (ReadFrom) than as it grows. If the chunk at hand has become complete
// since its header was written to the decoder, the decoder knows from now on.
func (d *Decoder) Survey(src io.ReaderAt, size int64) (readable int64, live, whole bool) {
	var head [headerSize]byte
	for readable < size {
		n, err := src.ReadAt(head[:], readable)
		if err != nil && !errors.Is(err, io.EOF) {
			return readable, false, false
		}
		h, err := parseHeader(head[:n])
		switch {
		case n < headerSize:
			return readable, false, false
		case err != nil:
			return size, false, false // let the decoder tell
		case h.state == stateGuard:
			return readable, true, false
		case !h.complete():
			return min(readable+h.size, size), true, false
		case h.size > size-readable:
			return size, false, false
		}
		if readable == d.source && len(d.pushed.data) >= headerSize {
			copy(d.pushed.data, head[:])
		}
		readable += h.size
	}
	return readable, false, readable > 0
}

// Write takes the next bytes of a recording.
func (d *Decoder) Write(p []byte) (int, error) {
	n := len(p)
	d.stats.Bytes += int64(n)
	q := &d.pushed
	if pass := min(q.pass, int64(n)); pass > 0 {
		q.pass -= pass
		d.source += pass
		p = p[pass:]
	}
	if !q.ended && d.err == nil {
		q.data = append(q.data, p...)
		d.takeWhole()
	}
	return n, d.err
}

// takeWhole takes the chunks that are complete.
func (d *Decoder) takeWhole() {
	q := &d.pushed
	d.makeWindow(int64(len(q.data)))
	for d.err == nil && len(q.data) >= headerSize {
		h, err := parseHeader(q.data)
		size := h.size
		switch {
		case err != nil:
			next, _ := findChunk(bytes.NewReader(q.data), 1, int64(len(q.data)), d.buf, nil) // memory does not fail
			next = max(1, min(next, int64(len(q.data)-len(Magic)-1)))
			d.problem(recording.Problem{Byte: d.source, What: err.Error(), Remedy: fmt.Sprintf("%d bytes are passed over", next)})
			d.drop(next)
			continue
		case max(size, int64(len(q.data))) > maxPushed:
			d.problem(recording.Problem{
				Byte: d.source, What: fmt.Sprintf("a chunk has more than %d bytes", maxPushed),
				Remedy: "read the file when it is complete, or give the recorder a smaller maxchunksize",
			})
			q.ended = q.pass == 0 && !h.complete()
			q.pass = max(0, size-int64(len(q.data)))
			d.drop(min(max(size, headerSize), int64(len(q.data))))
			continue
		case !h.complete() || size > int64(len(q.data)):
			return
		}
		d.takePart(h, size, true)
		d.drop(size)
	}
}

func (d *Decoder) drop(n int64) {
	q := &d.pushed
	q.data = append(q.data[:0], q.data[n:]...)
	q.done, q.waiting = 0, false
	d.source += n
}

// takePart hands on the events that have come since the last time.
func (d *Decoder) takePart(h header, size int64, complete bool) {
	q := &d.pushed
	c, problem, _ := openChunk(bytes.NewReader(q.data[:size]), 0, size, h, d.buf) // memory does not fail
	if c == nil {
		if complete {
			d.broken(problem)
		}
		return
	}
	if !complete && c.stable <= q.done {
		return
	}
	if complete && problem != nil {
		d.broken(problem)
	}
	if !complete {
		c.until = min(c.until, c.stable)
	}
	if q.began && d.session.goesOn(c) {
		d.session.extend(c)
	} else {
		if q.began {
			d.hand(d.splitter.split(nil, math.MaxInt64), math.MaxInt64)
			d.end()
		}
		d.begin(c)
	}
	q.began = true
	d.splitPushed(c, max(q.done, headerSize), complete)
	q.done = c.until
}

// splitPushed hands on events from a byte on. All that ended until now is there; what goes on is not.
func (d *Decoder) splitPushed(c *chunk, from int64, complete bool) {
	var records []record
	var late, lost uint64
	until := d.watermark
	all := func(jvmthread.Time) bool { return true }
	bad, _ := c.read(d.names(c), &d.session.clock, from, c.until, d.buf, all, func(r *record) { // memory does not fail
		if len(records) >= 2*sliceRecords {
			lost++
			return
		}
		if r.event.Time < d.watermark {
			late++
			r.event.Time, r.end = d.watermark, max(r.end, d.watermark)
		}
		until = max(until, r.end)
		records = append(records, *r)
	})
	if complete {
		d.count(c, bad+lost)
	}
	if late > 0 && d.late == 0 {
		d.problem(recording.Problem{
			Byte: d.source + from, What: "events that began before what was handed on already begin late",
			Remedy: "read the file when it is complete to have all of them as they were",
		})
	}
	d.late += late
	d.hand(d.splitter.split(records, until), until)
}

// Flush hands on what has come so far of a chunk that is being written, as far as its constants are there.
func (d *Decoder) Flush() error {
	q := &d.pushed
	if d.err == nil && !q.ended && len(q.data) >= headerSize {
		if h, err := parseHeader(q.data); err == nil {
			d.takePart(h, int64(len(q.data)), false)
		}
	}
	return d.err
}

// Close hands on what is left.
func (d *Decoder) Close() error {
	q := &d.pushed
	if d.err != nil || q.ended {
		return d.err
	}
	d.takeWhole()
	q.ended = true
	switch h, err := parseHeader(q.data); {
	case len(q.data) == 0:
		if q.began {
			d.hand(d.splitter.split(nil, math.MaxInt64), math.MaxInt64)
			d.end()
		}
	case err != nil:
		d.problem(recording.Problem{Byte: d.source, What: err.Error()})
	default:
		d.takePart(h, int64(len(q.data)), true)
		d.hand(d.splitter.split(nil, math.MaxInt64), math.MaxInt64)
		if h.complete() {
			d.problem(recording.Problem{
				Byte: d.source, What: fmt.Sprintf("a chunk breaks off: %d of its %d bytes are there", len(q.data), h.size), Remedy: "what is there is read",
			})
		}
	}
	q.data = nil
	return d.err
}
