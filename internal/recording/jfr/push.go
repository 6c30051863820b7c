// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// pushed is the state of a recording that is written to the decoder.
type pushed struct {
	data  []byte // of the current chunk
	done  int64  // length of the data whose events have been passed on; 0: the chunk has not started
	skip  int64  // number of bytes to skip
	began bool   // some session has begun
	last  bool   // no further bytes will follow
	ended bool   // further bytes are ignored

	bad       unread // events of the current chunk
	undefined int    // classes and stacks to which events of the current chunk refer, and which it does not define
}

// stateGuard marks a header that is being changed.
const stateGuard = 255

// Survey checks the headers of the chunks of a file. Readable is the length that will not change any more: a JVM rewrites parts of the chunk
// that it is writing after the size in its header. Live means that a JVM is writing the last chunk; whole that all chunks are complete, so that
// the file is better read as a whole (ReadFrom) than as it grows. Survey also updates the header of the current chunk in the decoder.
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
			return size, false, false // the decoder will report it
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

// Write implements recording.Decoder.
func (d *Decoder) Write(p []byte) (int, error) {
	n := len(p)
	d.Counts.Bytes += int64(n)
	q := &d.pushed
	skip := min(q.skip, int64(n))
	q.skip -= skip
	d.source += skip
	if !q.ended && d.Err() == nil {
		q.data = append(q.data, p[skip:]...)
		d.takeWhole(false)
	}
	return n, d.Err()
}

// takeWhole reads the chunks that are complete. The one at the end of the data is read only if it is wanted now: if it is the last, nothing is
// known about its threads after their last events.
func (d *Decoder) takeWhole(now bool) {
	q := &d.pushed
	d.makeWindow(int64(len(q.data)))
	for d.Err() == nil && len(q.data) >= headerSize {
		h, err := parseHeader(q.data)
		size := h.size
		switch {
		case err != nil:
			next, _ := findChunk(bytes.NewReader(q.data), 1, int64(len(q.data)), d.buf, nil) // memory does not fail
			next = max(1, min(next, int64(len(q.data)-len(Magic)-1)))
			d.report(0, err.Error(), fmt.Sprintf("skipping %d bytes", next))
			d.drop(next)
			continue
		case max(size, int64(len(q.data))) > maxPushed:
			d.report(0, fmt.Sprintf("a chunk has more than %d bytes", maxPushed),
				"read the file when it is complete, or set a smaller maxchunksize for the recorder")
			q.ended = q.skip == 0 && !h.complete()
			q.skip = max(0, size-int64(len(q.data)))
			d.drop(min(max(size, headerSize), int64(len(q.data))))
			continue
		case !h.complete() || size > int64(len(q.data)) || size == int64(len(q.data)) && !now:
			return
		}
		d.takePart(h, size, true)
		d.drop(size)
	}
}

func (d *Decoder) drop(n int64) {
	q := &d.pushed
	q.data = append(q.data[:0], q.data[n:]...)
	q.done = 0
	d.source += n
}

// takePart passes on the events that are new since the last call.
func (d *Decoder) takePart(h header, size int64, complete bool) {
	q := &d.pushed
	c, problem, _ := openChunk(bytes.NewReader(q.data[:size]), part{header: h, end: size}, d.buf) // memory does not fail
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
	c.clock = d.session.clock
	if q.began && d.session.includes(c) {
		d.session.extend(c)
	} else {
		if q.began {
			d.finish()
			d.end()
		}
		d.begin(c)
		d.announce()
	}
	q.began = true
	if q.last {
		d.splitter.lasts = newLasts()
		_, _, _ = d.scanLasts(c, d.splitter.lasts) // memory does not fail
	}
	d.splitPushed(c, max(q.done, headerSize), complete)
	q.done = c.until
}

// splitPushed passes on the events from an offset on. Events that have not ended yet are missing.
func (d *Decoder) splitPushed(c *chunk, from int64, complete bool) {
	var records []record
	var late, lost uint64
	until := d.watermark
	all := func(jvmthread.Time) bool { return true }
	names := d.names(c)
	bad, _ := c.read(names, from, c.until, d.buf, all, func(r *record, _ int64) { // memory does not fail
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
	bad.malformed += lost
	d.pushed.bad.add(bad)
	d.pushed.undefined += names.undefined
	if complete {
		d.count(c, d.pushed.bad, d.pushed.undefined)
		d.pushed.bad, d.pushed.undefined = unread{}, 0
	}
	if late > 0 && d.late == 0 {
		d.report(from, "some events start late, as they began before those read earlier", "read the file when it is complete")
	}
	d.late += late
	d.pass(d.splitter.split(records, until), until)
}

// Flush passes on the events of a chunk that is being written, as far as their constants are known.
func (d *Decoder) Flush() error {
	q := &d.pushed
	if d.Err() == nil && !q.ended {
		d.takeWhole(true)
	}
	if d.Err() == nil && !q.ended && len(q.data) >= headerSize {
		if h, err := parseHeader(q.data); err == nil {
			d.takePart(h, int64(len(q.data)), false)
		}
	}
	return d.Err()
}

// Close implements recording.Decoder.
func (d *Decoder) Close() error {
	q := &d.pushed
	if d.Err() != nil || q.ended {
		return d.Err()
	}
	q.last = true
	d.takeWhole(true)
	q.ended = true
	switch h, err := parseHeader(q.data); {
	case len(q.data) == 0:
		if q.began {
			d.finish()
			d.end()
		}
	case err != nil:
		d.report(0, err.Error(), "")
	default:
		d.takePart(h, int64(len(q.data)), true)
		d.finish()
		if h.complete() {
			d.report(0, truncatedChunk(int64(len(q.data)), h.size), "reading that part")
		}
	}
	q.data = nil
	return d.Err()
}
