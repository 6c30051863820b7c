// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// part is where a chunk is.
type part struct {
	at, end int64
	header  header
	start   jvmthread.Time // of the session that it is of
}

// makeWindow makes room for a window, as much as a source of that size needs.
func (d *Decoder) makeWindow(size int64) {
	const least = 4096
	if want := int(max(least, min(size, windowSize))); cap(d.buf) < want {
		d.buf = make([]byte, 0, want)
	}
}

// whole reads all chunks of a source, one session after the other.
func (d *Decoder) whole(src io.ReaderAt, size int64) error {
	d.makeWindow(size)
	parts, err := d.parts(src, size)
	for err == nil && len(parts) > 0 && d.err == nil {
		var n int
		n, err = d.run(src, parts)
		parts = parts[n:]
	}
	return errors.Join(err, d.err)
}

// parts finds the chunks.
func (d *Decoder) parts(src io.ReaderAt, size int64) (parts []part, err error) {
	var head [headerSize]byte
	for at := int64(0); at < size; {
		n, err := src.ReadAt(head[:], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return parts, err
		}
		h, err := parseHeader(head[:n])
		p := part{at: at, header: h, end: at + h.size}
		switch {
		case err != nil || len(parts) >= maxChunks:
			next, findErr := findChunk(src, at+1, size, d.buf, nil)
			if findErr != nil {
				return parts, findErr
			}
			if err == nil {
				d.problem(recording.Problem{Byte: d.source + at, What: fmt.Sprintf("there are more than %d chunks", maxChunks), Remedy: "the rest is not read"})
				return parts, nil
			}
			d.problem(recording.Problem{Byte: d.source + at, What: err.Error(), Remedy: fmt.Sprintf("%d bytes are passed over", next-at)})
			at = next
			continue
		case !h.complete():
			if p.end, err = findChunk(src, at+headerSize, size, d.buf, &h); err != nil {
				return parts, err
			}
		case h.size > size-at:
			d.problem(recording.Problem{
				Byte: d.source + at, What: fmt.Sprintf("a chunk breaks off: %d of its %d bytes are there", size-at, h.size), Remedy: "what is there is read",
			})
			p.end = size
		}
		parts = append(parts, p)
		at = p.end
	}
	return parts, nil
}

// run reads the chunks of one session, and returns how many there are.
func (d *Decoder) run(src io.ReaderAt, parts []part) (n int, err error) {
	var first *chunk
	for first == nil { // those that cannot be read are told, and passed over
		if n == len(parts) || d.err != nil {
			return n, nil
		}
		var problem *brokenEvent
		if first, problem, err = d.open(src, &parts[n]); err != nil {
			return n, err
		}
		if problem != nil {
			d.broken(problem)
		}
		n++
	}
	d.begin(first)
	own := []part{parts[n-1]}
	var early []record
	for ; n < len(parts) && d.err == nil; n++ {
		p := parts[n]
		c, problem, err := d.open(src, &p)
		switch {
		case err != nil:
			return n, err
		case c == nil:
			d.broken(problem)
			continue
		case !d.session.goesOn(c):
			return n, d.chunks(src, own, first, early)
		case problem != nil:
			d.broken(problem)
		}
		p.start = jvmthread.Time(d.session.clock.at(c.startTicks))
		own = append(own, p)
		isEarly := func(begin jvmthread.Time) bool { return begin < p.start && len(early) < maxEarly }
		_, err = c.read(d.names(c), &d.session.clock, c.at+headerSize, c.until, d.buf, isEarly, func(r *record) { early = append(early, *r) })
		if err != nil {
			return n, err
		}
	}
	slices.SortStableFunc(early, func(a, b record) int { return int(min(1, max(-1, a.event.Time-b.event.Time))) })
	return n, d.chunks(src, own, first, early)
}

func (d *Decoder) open(src io.ReaderAt, p *part) (*chunk, *brokenEvent, error) {
	return openChunk(src, p.at, p.end, p.header, d.buf)
}

// chunks hands on the events of the chunks of a session, and its end.
func (d *Decoder) chunks(src io.ReaderAt, parts []part, first *chunk, early []record) error {
	c := first
	for i := range parts {
		if i > 0 {
			var err error
			if c, _, err = d.open(src, &parts[i]); err != nil {
				return err
			}
			if c == nil {
				continue // it could be read a moment ago
			}
			d.session.extend(c)
		}
		lo, until := jvmthread.Time(math.MinInt64), jvmthread.Time(math.MaxInt64)
		if i > 0 {
			lo = parts[i].start
		}
		if i+1 < len(parts) {
			until = parts[i+1].start
		}
		n := 0
		for n < len(early) && early[n].event.Time < until {
			n++
		}
		if err := d.events(c, c.at+headerSize, lo, until, early[:n]); err != nil {
			return err
		}
		early = early[n:]
	}
	last := &parts[len(parts)-1]
	if last.header.complete() && last.end-last.at == last.header.size {
		d.end()
	}
	return nil
}

// events hands on the events of a chunk that begin at lo or later, and of early records, in slices.
func (d *Decoder) events(c *chunk, from int64, lo, until jvmthread.Time, early []record) error {
	names := d.names(c)
	for d.err == nil {
		d.slice.reset(lo)
		for i := range early {
			d.slice.add(&early[i])
		}
		bad, err := c.read(names, &d.session.clock, from, c.until, d.buf, d.slice.wants, d.slice.add)
		if err != nil {
			return err
		}
		if !d.slice.more {
			d.count(c, bad)
			d.hand(d.splitter.split(d.slice.records, until), until)
			return d.err
		}
		lo = d.slice.hi
		d.hand(d.splitter.split(d.slice.records, lo), lo)
		for len(early) > 0 && early[0].event.Time < lo {
			early = early[1:]
		}
	}
	return d.err
}
