// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"errors"
	"fmt"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// maxThreads bounds the threads of all dumps together, at some hundred bytes each.
const maxThreads = 1 << 20

// decoder reads one file, or several as one. It passes on sessions at the end: dumps of a JVM may be anywhere in them.
type decoder struct {
	recording.Output

	sink    recording.Sink
	text    *recording.Text // of the current file
	source  source
	dumps   []*dump
	before  int // of them, in the files before
	threads int // of the dumps
	bytes   int64
	closed  bool
}

// source is what a file is read as.
type source interface {
	// scan is a recording.Scan.
	scan(text []byte, room recording.Room) int
	// finish ends the file.
	finish()
}

// New returns a decoder of thread dumps. It implements recording.Joiner.
func New(options recording.Options, sink recording.Sink) recording.Decoder {
	d := &decoder{Output: recording.NewOutput(options, sink), sink: sink}
	d.begin()
	return d
}

// begin begins a file.
func (d *decoder) begin() {
	d.source, d.before = &start{d}, len(d.dumps)
	d.text = recording.NewText(recording.NewBatcher(d.Options, d.sink, recording.Session{}), func(text []byte, room recording.Room) int {
		return d.source.scan(text, room)
	}, func() { d.source.finish() })
}

// Write implements recording.Decoder.
func (d *decoder) Write(p []byte) (int, error) {
	if d.closed {
		return 0, errClosed
	}
	n, err := d.text.Write(p)
	d.bytes += int64(n)
	return n, errors.Join(err, d.Err())
}

var errClosed = errors.New("the decoder is closed")

// Next ends a file. What follows is of another one.
func (d *decoder) Next(file string) error {
	err := d.end()
	d.Options.File = file
	d.begin()
	return err
}

// end ends the current file.
func (d *decoder) end() error {
	err := d.text.Close()
	if len(d.dumps) == d.before && err == nil {
		d.Problem(recording.Problem{
			What:   "no thread dump in this text",
			Remedy: "want the output of jstack, jcmd Thread.print or Thread.dump_to_file, or a log in which a JVM printed one after kill -3",
		})
	}
	return errors.Join(err, d.Err())
}

// Flush implements recording.Decoder. What a growing file has so far may be half a dump, and a later one may belong to it.
func (*decoder) Flush() error { return nil }

// Close implements recording.Decoder.
func (d *decoder) Close() error {
	if d.closed {
		return d.Err()
	}
	err := d.end()
	d.closed = true
	if err == nil {
		d.play()
	}
	return errors.Join(err, d.Err())
}

// Stats implements recording.Decoder.
func (d *decoder) Stats() recording.Stats {
	s, of := d.Output.Stats(), d.text.Stats()
	s.Bytes = d.bytes
	s.Problems += of.Problems
	s.Lost += of.Lost
	return s
}

// add adds a dump.
func (d *decoder) add(found *dump) {
	if d.threads += len(found.threads); d.threads > maxThreads {
		d.Problem(recording.Problem{
			Line: d.text.Position().Line, Byte: d.text.Position().Byte, What: fmt.Sprintf("there are more than %d threads in all dumps; skipping the rest", maxThreads),
			Remedy: "read fewer dumps at once",
		})
		d.threads -= len(found.threads)
		return
	}
	d.dumps = append(d.dumps, found)
}

// play passes on the sessions.
func (d *decoder) play() {
	for _, h := range histories(d.dumps) {
		session := recording.Session{Attributes: h.attributes(d.Options.Symbols)}
		for _, of := range h.dumps {
			session.PID = max(session.PID, of.pid)
		}
		times := d.times(h)
		session.Dumps = times
		d.Session(&session)
		p := player{decoder: d}
		p.play(h, times)
	}
}

// between is the time from a dump to the next one if that is not stated.
const between = jvmthread.Time(1e9)

// times returns the times of dumps, which rise.
func (d *decoder) times(h *history) []jvmthread.Time {
	list := make([]jvmthread.Time, len(h.dumps))
	for i, of := range h.dumps {
		list[i] = of.at
		switch {
		case i == 0 && of.at == 0:
			list[i] = max(d.Options.Times.Origin, between)
		case i > 0 && of.at == 0:
			list[i] = list[i-1] + between
		case i > 0 && of.at <= list[i-1]:
			list[i] = list[i-1] + between/1000
		}
	}
	return list
}

// start is a file of which nothing was read yet.
type start struct{ *decoder }

func (s *start) scan(text []byte, room recording.Room) int {
	switch {
	case isJSON(text):
		s.source = newJSON(s.decoder)
	case room == recording.RoomMore && len(text) < recording.HeadSize:
		return 0
	default:
		s.source = newLines(s.decoder)
	}
	return s.source.scan(text, room)
}

func (s *start) finish() {}
