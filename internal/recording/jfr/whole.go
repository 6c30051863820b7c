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

	at, end int64 // offsets in the source
	clock   clock
	start   jvmthread.Time // by this clock
	blocks  blocks
	bad     unread
	open    *chunk // nil: it is opened again when its events are read
}

// maxOpen limits chunk.held of all chunks that stay open. Their metadata and constants need several times as much memory as in the file.
const maxOpen = 2 << 20

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
	d.reportEmpty()
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

// run is the chunks of one session.
type run struct {
	parts     []part
	ends      *lasts
	early     []record // that begin before the chunk that contains them
	dumps     []dumped // the last two
	deadlocks map[jvmthread.ThreadID]*deadlocked
	held      int64 // bytes of metadata and constants

	// Of the last chunk:
	sampled bool                              // threads that run are sampled
	least   map[jvmthread.Kind]jvmthread.Time // see leastOf
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
	r := run{ends: newLasts()}
	d.splitter.lasts = r.ends
	if err := d.survey(&r, first, jvmthread.Time(math.MinInt64)); err != nil {
		return n, err
	}
	for ; n < len(parts) && d.Err() == nil; n++ {
		c, problem, err := openChunk(src, parts[n], d.buf)
		switch {
		case err != nil:
			return n, err
		case c == nil:
			d.broken(problem)
			continue
		case !d.session.includes(c):
			return n, d.chunks(src, &r)
		}
		var overlaps bool
		if c.clock, overlaps = d.place(c, &r.parts[len(r.parts)-1]); overlaps { // of another recorder of the same JVM
			if known, _, err := d.scanLasts(c, newLasts()); err != nil || len(known.list) > 0 {
				return n, errors.Join(err, d.chunks(src, &r))
			}
			d.tally(c)
			continue
		}
		if problem != nil {
			d.broken(problem)
		}
		if err := d.survey(&r, c, jvmthread.Time(c.clock.at(c.startTicks))); err != nil {
			return n, err
		}
	}
	return n, d.chunks(src, &r)
}

// survey adds a chunk to a run, with its early records and the ends of its threads.
func (d *Decoder) survey(r *run, c *chunk, start jvmthread.Time) (err error) {
	d.tally(c)
	p := c.part
	p.start = start
	if p.blocks, p.bad, err = d.scanLasts(c, r.ends); err != nil {
		return err
	}
	if r.held += c.held; r.held <= maxOpen || len(r.parts) == 0 {
		p.open = c
	}
	r.parts = append(r.parts, p)
	r.sampled, r.least = c.settings()[wantedEvents[kindSample].name].enabled == "true", c.leastOf()
	for _, of := range c.about.dumps {
		r.dumps = append(r.dumps[max(0, len(r.dumps)-1):], dumped{jvmthread.Time(c.clock.at(of.ticks)), c.pools.text(of.text)})
	}
	r.seeDeadlocks(c)
	isEarly := func(begin jvmthread.Time) bool { return begin < start && len(r.early) < maxEarly }
	names := d.names(c)
	for i := range p.blocks.list {
		if !p.blocks.list[i].overlaps(math.MinInt64, start) {
			continue
		}
		from, to := p.blocks.list[i].within(c, 0)
		_, err = c.read(names, from, to, d.buf, isEarly, func(rec *record, _ int64) { r.early = append(r.early, *rec) })
		if err != nil {
			return err
		}
	}
	return nil
}

// chunks passes on the events of a run, and its end.
func (d *Decoder) chunks(src io.ReaderAt, r *run) error {
	d.announce()
	if err := d.hang(r); err != nil {
		return err
	}
	d.lockUp(r)
	early, parts := r.early, r.parts
	slices.SortStableFunc(early, func(a, b record) int { return cmp.Compare(a.event.Time, b.event.Time) })
	for i := range parts {
		p := &parts[i]
		c := p.open
		if p.open = nil; c == nil {
			var err error
			if c, _, err = openChunk(src, *p, d.buf); err != nil {
				return err
			}
			if c == nil {
				continue // the file has changed
			}
		}
		d.session.extend(c)
		until := jvmthread.Time(math.MaxInt64)
		if i+1 < len(parts) {
			until = parts[i+1].start
		}
		n := 0
		for n < len(early) && early[n].event.Time < until {
			n++
		}
		if err := d.passChunk(c, p, until, early[:n]); err != nil {
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

// passChunk passes on, in slices, the early records and the events of a chunk that begin in it.
func (d *Decoder) passChunk(c *chunk, p *part, until jvmthread.Time, early []record) error {
	names, s := d.names(c), &d.slice
	s.reset(p.start)
	for from := int64(0); d.Err() == nil; from = s.next() {
		if from == 0 {
			for i := range early {
				s.add(&early[i], 0)
			}
		}
		for i := range p.blocks.list {
			b := &p.blocks.list[i]
			if b.end <= from || !b.overlaps(s.lo, s.hi) {
				continue
			}
			from, to := b.within(c, from)
			if _, err := c.read(names, from, to, d.buf, s.wants, s.add); err != nil {
				return err
			}
		}
		if !s.more() {
			d.count(c, p.bad, names.undefined)
			d.pass(d.splitter.split(s.records, until), until)
			return d.Err()
		}
		d.pass(d.splitter.split(s.records, s.hi), s.hi)
		for len(early) > 0 && early[0].event.Time < s.hi {
			early = early[1:]
		}
	}
	return d.Err()
}
