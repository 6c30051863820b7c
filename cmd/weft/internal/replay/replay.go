// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package replay answers: which windows does a recording contain? It runs the engine over a recording, as a collector would over live events.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wording"
)

// MaxReported bounds the problems of a recording that an error lists.
const MaxReported = 10

// UnpackedOption is the name of Source.MaxUnpacked for users.
const UnpackedOption = "--max-unpacked"

// Source is a recording.
type Source struct {
	Name   string // in errors
	Format string // empty: what the content shows
	Path   string // of the file, to find its side files; empty if the source is not a file
	// Sidecar is as in recording.Options; nil: side files are next to Path.
	Sidecar func(extension string) (io.ReadCloser, error)
	Span    Span // part of a recording to read; zero: all of it
	Reader  io.Reader
	// MaxUnpacked bounds the bytes that are read of a compressed or piped file, decompressed; 0: recording.DefaultMaxUnpacked.
	MaxUnpacked int64
	More        []Source // files that continue the recording, see Join
	Reads       *Reads   // what other sources have counts once; nil: this is the only one
}

// Session is a session of a recording.
type Session struct {
	recording.Session

	Format  string
	Symbols *symbols.Table
	Engine  *drive.Session
}

// Sink receives what a recording becomes, one session after the other.
type Sink interface {
	Session(s *Session)
	// Window receives a window of the session. It is valid until Window returns.
	Window(w *window.Window)
	// Aggregate receives the sums of an agent in aggregated mode.
	Aggregate(a *jvmthread.Aggregate)
	// Close marks the end of the session, and why it ended.
	Close(why window.Cut)
}

// Play runs the engine over a recording. The error lists the problems of the recording; what can be read of it is in the sink.
func Play(ctx context.Context, source Source, cfg engine.Config, sink Sink) error {
	in, err := source.open()
	if err != nil {
		return err
	}
	defer in.free()
	sym := symbols.New(symbols.DefaultLimits())
	p := &player{ctx: ctx, sink: sink, symbols: sym, format: in.format.Name, cfg: cfg, name: source.Name, span: source.Span, seed: in.seed, shares: make(map[jvmthread.SessionID]*share)}
	if source.Reads != nil {
		p.earlier = source.Reads.sessions
		defer func() { source.Reads.add(source.Name, p.shares) }()
	}
	options := recording.Options{
		File: source.Name, Symbols: sym, MaxProblems: MaxReported, MaxUnpacked: source.MaxUnpacked, UnpackedOption: UnpackedOption,
		Sidecar: source.SideFiles(),
	}
	decoder := in.format.New(options, recording.CompleteWaits(p))
	err = recording.Contain("", decoder, func() error {
		_, err := io.Copy(decoder, in.reader)
		for i := range source.More {
			err = errors.Join(err, source.More[i].Follow(decoder))
		}
		err = errors.Join(err, decoder.Close())
		p.close(jvmthread.NoTime, window.CutLost)
		return err
	})
	if p.session != nil { // a panic
		sink.Close(window.CutFailed)
	}
	if more := decoder.Stats().Problems; more > MaxReported {
		p.problems = append(p.problems, fmt.Errorf("and %s", wording.Plural(more-MaxReported, "more problem")))
	}
	return errors.Join(append(p.problems, err)...)
}

// SideFiles returns a function for recording.Options; nil: there are none.
func (s *Source) SideFiles() func(extension string) (io.ReadCloser, error) {
	if s.Sidecar == nil && s.Path != "" {
		return formats.Sidecar(s.Path)
	}
	return s.Sidecar
}

// player is the sink of a recording: it turns events into windows.
type player struct {
	ctx      context.Context //nolint:containedctx // of one call; decoders do not pass one
	sink     Sink
	symbols  *symbols.Table
	format   string
	cfg      engine.Config
	name     string // of the source
	seed     []byte // see formats.SessionID
	seen     int    // sessions
	session  *Session
	problems []error
	span     Span
	earlier  map[jvmthread.SessionID][]extent // what other sources have
	shares   map[jvmthread.SessionID]*share   // what this one has
}

// Session starts a session, after the end of the one before.
func (p *player) Session(s *recording.Session) error {
	p.close(jvmthread.NoTime, window.CutLost)
	session := &Session{Session: *s, Format: p.format, Symbols: p.symbols}
	if session.ID == (jvmthread.SessionID{}) {
		session.ID = formats.SessionID(p.seed, byte(p.seen))
	}
	p.seen++
	cfg := p.cfg
	cfg.Phase = window.Phase(session.ID, cfg.Window) // the windows of thread_span
	cfg.Exact = s.Dumps != nil
	session.Engine = drive.New(cfg, p.symbols)
	p.session = session
	if p.shares[session.ID] == nil {
		p.shares[session.ID] = &share{earlier: p.earlier[session.ID]}
	}
	p.sink.Session(session)
	return nil
}

// Batch adds the events of a batch that lie within the span.
func (p *player) Batch(b *recording.Batch) error {
	if p.session == nil {
		if err := p.Session(&recording.Session{}); err != nil {
			return err
		}
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	for _, th := range b.Threads {
		p.symbols.SetThread(th)
	}
	if !p.span.cut(b) || !p.shares[p.session.ID].cut(b) {
		return nil
	}
	if b.Aggregate != nil {
		p.sink.Aggregate(b.Aggregate)
		return nil
	}
	p.session.Engine.Batch(b.Events, b.Lost, b.Watermark, p.sink.Window)
	return nil
}

// Problem lists a problem of the recording.
func (p *player) Problem(problem recording.Problem) error {
	if problem.File == p.name { // which the caller adds
		problem.File = ""
	}
	text := strings.TrimSpace(problem.Error())
	if problem.File == "" && problem.Line > 0 {
		text = "line " + text[1:]
	}
	p.problems = append(p.problems, errors.New(printable.Text(text)))
	return nil
}

// End ends the session. What its threads did last lasted until then.
func (p *player) End(end recording.End) error {
	until, why := jvmthread.NoTime, window.CutEnd
	if from, to := p.span.bounds(); end.Time >= from {
		until = min(end.Time, to)
	}
	if end.Reason == threadpdata.EndLost {
		why = window.CutLost
	}
	p.close(until, why)
	return nil
}

func (p *player) close(until jvmthread.Time, why window.Cut) {
	if p.session != nil {
		p.session.Engine.Close(until, why, p.sink.Window)
		p.sink.Close(why)
		p.session = nil
	}
}
