// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/symbols"
)

// Limits.
const (
	sliceRecords = 1 << 16   // records that are sorted at once, twice as many for a moment
	maxPushed    = 256 << 20 // bytes of a chunk that is pushed: it is kept in memory
	maxSpool     = 64 << 30  // bytes of a temporary file
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
	return &Decoder{
		options: options, sink: sink, symbols: options.Symbols, watermark: math.MinInt64,
		slice: slice{room: sliceRecords},
	}
}

// Stats says what was read so far.
func (d *Decoder) Stats() recording.Stats { return d.stats }

// ReadFrom reads a whole recording. A file is read where it stands; anything else goes through a temporary file, since a chunk can only be
// understood from its end.
func (d *Decoder) ReadFrom(r io.Reader) (int64, error) {
	if d.err != nil {
		return 0, d.err
	}
	begun := d.pushed.data // io.Copy may have written the first bytes, since others have ideas of their own about copying
	if src, size, ok := seekable(r); ok && len(begun) == 0 {
		err := d.whole(src, size)
		d.stats.Bytes += size
		return size, err
	}
	spool, err := os.CreateTemp("", "weft-*.jfr")
	if err != nil {
		return 0, err
	}
	defer func() {
		_ = spool.Close()           // it is not kept
		_ = os.Remove(spool.Name()) // see above
	}()
	if _, err := spool.Write(begun); err != nil {
		return 0, err
	}
	front := int64(len(begun))
	d.pushed.data = nil
	n, err := io.Copy(spool, io.LimitReader(r, maxSpool))
	if err != nil { // such as a broken gzip stream: what came is good
		d.problem(recording.Problem{Byte: front + n, What: err.Error(), Remedy: "what was before is read"})
	}
	if n == maxSpool {
		d.problem(recording.Problem{Byte: n, What: "the recording is larger than 64 GiB", Remedy: "decompress it: a plain file is read where it stands"})
	}
	d.stats.Bytes += n
	return n, d.whole(spool, front+n)
}

// seekable returns a source that can be read anywhere.
func seekable(r io.Reader) (src io.ReaderAt, size int64, ok bool) {
	src, ok = r.(io.ReaderAt)
	if !ok {
		return nil, 0, false
	}
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := r.Stat()
		return src, size + sizeOf(info, err), err == nil && info.Mode().IsRegular()
	case interface{ Size() int64 }:
		return src, r.Size(), true
	}
	return nil, 0, false
}

func sizeOf(info fs.FileInfo, err error) int64 {
	if err != nil {
		return 0
	}
	return info.Size()
}

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
