// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// readRecording turns a recording into windows, as a collector would, and adds up their traces.
func (c *collection) readRecording(format *recording.Format, source Source, r io.Reader) error {
	sym := symbols.New(symbols.DefaultLimits())
	p := &player{collection: c, symbols: sym, format: format.Name, name: source.Name, span: source.Span}
	options := recording.Options{
		File: source.Name, Symbols: sym, MaxProblems: maxReported, MaxUnpacked: source.MaxUnpacked, UnpackedOption: unpackedOption,
	}
	if source.Path != "" {
		options.Sidecar = formats.Sidecar(source.Path)
	}
	decoder := format.New(options, recording.CompleteWaits(p))
	_, err := io.Copy(decoder, r)
	err = errors.Join(err, decoder.Close())
	p.close(windows.CutLost)
	if more := decoder.Stats().Problems; more > maxReported {
		p.problems = append(p.problems, fmt.Errorf("and %s", units.Plural(int64(more-maxReported), "more problem")))
	}
	return errors.Join(append(p.problems, err)...)
}

// player is the sink of a recording.
type player struct {
	collection *collection
	symbols    *symbols.Table
	format     string
	name       string // of the source
	session    *recording.Session
	engine     *engine.Engine
	emitter    *threadpdata.Emitter
	batch      uint64
	before     uint64
	problems   []error
	span       Span
}

// spansPerWindow is the default of the thread_span processor. Sums include the intervals without a span.
const spansPerWindow = 2000

// Session starts a session, after the end of the one before.
func (p *player) Session(s *recording.Session) error {
	p.close(windows.CutLost)
	session := *s
	if session.ID[0] == 0 {
		session.ID[0] = 1
	}
	cfg := engine.DefaultConfig()
	cfg.Phase = windows.Phase(session.ID, cfg.Window) // the windows of thread_span
	p.session, p.engine = &session, engine.New(cfg, p.symbols)
	p.emitter = threadpdata.NewEmitter(session.ID, p.symbols, p.engine.Waits())
	p.batch, p.before = 0, 0
	p.collection.sum.Recordings = append(p.collection.sum.Recordings, Recording{Format: p.format, Thresholds: session.Thresholds})
	return nil
}

// Batch adds the events of a batch that lie within the span.
func (p *player) Batch(b *recording.Batch) error {
	if p.engine == nil {
		if err := p.Session(&recording.Session{}); err != nil {
			return err
		}
	}
	for _, th := range b.Threads {
		p.symbols.SetThread(th)
	}
	if !p.span.cut(b) {
		return nil
	}
	if b.Aggregate != nil {
		p.collection.addAggregate(b.Aggregate, p.symbols, p.engine.Waits(), p.session)
		return nil
	}
	p.batch++
	p.before += b.Lost
	p.engine.Add(ordering.Part{Batch: p.batch, Parts: 1, Watermark: b.Watermark, Before: p.before, Events: b.Events})
	for i := range b.Events {
		if b.Events[i].Kind != jvmthread.KindGap {
			p.before++
		}
	}
	p.engine.Advance(p.window)
	return nil
}

// Problem lists a problem of the recording.
func (p *player) Problem(problem recording.Problem) error {
	if problem.File == p.name { // which Read adds
		problem.File = ""
	}
	text := strings.TrimSpace(problem.Error())
	if problem.File == "" && problem.Line > 0 {
		text = "line " + text[1:]
	}
	p.problems = append(p.problems, errors.New(printable.Text(text)))
	return nil
}

// End ends the session.
func (p *player) End(recording.End) error {
	p.close(windows.CutEnd)
	return nil
}

func (p *player) close(why windows.Cut) {
	if p.engine != nil {
		p.engine.Close(why, p.window)
		p.engine = nil
	}
}

func (p *player) window(w *windows.Window) {
	w.Select(spansPerWindow, 0)
	traces := ptrace.NewTraces()
	rs := traces.ResourceSpans().AppendEmpty()
	threadpdata.FillResource(rs.Resource(), p.session.ID, p.session.PID, p.session.Attributes)
	p.emitter.Append(w, nil, rs.ScopeSpans().AppendEmpty().Spans())
	p.collection.add(traces)
}
