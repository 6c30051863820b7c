// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// part locates a chunk.
type part struct {
	header

	at, end int64          // offsets in the source
	start   jvmthread.Time // by the clock of the session
}

// makeWindow allocates a window for a source of the given size.
func (d *Decoder) makeWindow(size int64) {
	const least = 4096
	if want := int(max(least, min(size, windowSize))); cap(d.buf) < want {
		d.buf = make([]byte, 0, want)
	}
}

// whole reads all chunks of a source, session by session.
func (d *Decoder) whole(src io.ReaderAt, size int64) error {
	d.makeWindow(size)
	parts, err := d.parts(src, size)
	for err == nil && len(parts) > 0 && d.Err() == nil {
		var n int
		n, err = d.run(src, parts)
		parts = parts[n:]
	}
	return errors.Join(err, d.Err())
}

// parts locates the chunks of a source.
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
				d.report(at, fmt.Sprintf("more than %d chunks", maxChunks), "skipping the rest")
				return parts, nil
			}
			d.report(at, err.Error(), fmt.Sprintf("skipping %d bytes", next-at))
			at = next
			continue
		case !h.complete():
			if p.end, err = findChunk(src, at+headerSize, size, d.buf, &h); err != nil {
				return parts, err
			}
		case h.size > size-at:
			d.report(at, truncatedChunk(size-at, h.size), "reading that part")
			p.end = size
		}
		parts = append(parts, p)
		at = p.end
	}
	return parts, nil
}

// truncatedChunk describes a chunk of which only the first bytes are present.
func truncatedChunk(have, size int64) string {
	return fmt.Sprintf("truncated chunk: %d of %d bytes are present", have, size)
}

// run reads the chunks of one session and returns their number.
func (d *Decoder) run(src io.ReaderAt, parts []part) (n int, err error) {
	var first *chunk
	for first == nil { // skip unreadable chunks
		if n == len(parts) || d.Err() != nil {
			return n, nil
		}
		var problem *recording.Problem
		if first, problem, err = openChunk(src, parts[n], d.buf); err != nil {
			return n, err
		}
		if problem != nil {
			d.broken(problem)
		}
		n++
	}
	d.begin(first)
	own, ends := []part{parts[n-1]}, make(lasts)
	if err := d.scanLasts(first, ends); err != nil {
		return n, err
	}
	d.splitter.lasts = ends
	var early []record
	for ; n < len(parts) && d.Err() == nil; n++ {
		p := parts[n]
		c, problem, err := openChunk(src, p, d.buf)
		switch {
		case err != nil:
			return n, err
		case c == nil:
			d.broken(problem)
			continue
		case !d.session.includes(c):
			return n, d.chunks(src, own, first, early)
		case problem != nil:
			d.broken(problem)
		}
		p.start = jvmthread.Time(d.session.clock.at(c.startTicks))
		own = append(own, p)
		isEarly := func(begin jvmthread.Time) bool { return begin < p.start && len(early) < maxEarly }
		_, err = c.read(d.names(c), &d.session.clock, c.at+headerSize, c.until, d.buf, isEarly, func(r *record) { early = append(early, *r) })
		if err == nil {
			err = d.scanLasts(c, ends)
		}
		if err != nil {
			return n, err
		}
	}
	slices.SortStableFunc(early, func(a, b record) int { return cmp.Compare(a.event.Time, b.event.Time) })
	return n, d.chunks(src, own, first, early)
}

// chunks passes on the events of the chunks of a session, and its end.
func (d *Decoder) chunks(src io.ReaderAt, parts []part, first *chunk, early []record) error {
	c := first
	for i := range parts {
		if i > 0 {
			var err error
			if c, _, err = openChunk(src, parts[i], d.buf); err != nil {
				return err
			}
			if c == nil {
				continue // the file has changed
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
	if last.complete() && last.end-last.at == last.size {
		d.end()
	}
	return nil
}

// events passes on, in slices, the early records and the events of a chunk that start at lo or later.
func (d *Decoder) events(c *chunk, from int64, lo, until jvmthread.Time, early []record) error {
	names := d.names(c)
	for d.Err() == nil {
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
			d.pass(d.splitter.split(d.slice.records, until), until)
			return d.Err()
		}
		lo = d.slice.hi
		d.pass(d.splitter.split(d.slice.records, lo), lo)
		for len(early) > 0 && early[0].event.Time < lo {
			early = early[1:]
		}
	}
	return d.Err()
}
