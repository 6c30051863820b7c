// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"regexp"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/ordering"
	"github.com/weft-otel/weft/internal/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/window"
)

// session is one JVM: its engine, the texts behind its ids, and what makes spans of its windows.
type session struct {
	id       jvmthread.SessionID
	proc     *threadSpan
	resource pcommon.Resource

	mu        sync.Mutex
	engine    *engine.Engine
	symbols   *symbols.Table
	emitter   *threadpdata.Emitter
	finder    *window.Finder // nil: no critical path
	carrier   threadpdata.Carrier
	windows   []ptrace.Traces // complete, not sent yet
	heard     time.Time       // when something came
	stalled   time.Time       // since when the awaited batch is missing; zero: none is
	awaited   uint64          // its number
	closed    bool
	published [numOddities]oddity
	totals    totals
}

func newSession(p *threadSpan, id jvmthread.SessionID, res pcommon.Resource) *session {
	cfg := engine.DefaultConfig()
	cfg.Window, cfg.Limits = p.cfg.Window, window.Limits{Intervals: p.cfg.MaxIntervalsPerWindow}
	cfg.OldRecording = threadpdata.IsOldRecording(res)
	s := &session{id: id, proc: p, heard: time.Now(), resource: pcommon.NewResource(), engine: engine.New(cfg), symbols: symbols.New(symbols.DefaultLimits())}
	s.emitter = threadpdata.NewEmitter(id, s.symbols)
	res.CopyTo(s.resource)
	s.finder = s.newFinder()
	return s
}

func (s *session) newFinder() *window.Finder {
	cfg := &s.proc.cfg.CriticalPath
	if cfg.Mode == PathOff {
		return nil
	}
	f := window.NewFinder()
	f.Unbounded = cfg.Mode == PathUnbounded
	if cfg.Thread != "" {
		pattern := regexp.MustCompile(cfg.Thread) // Validate has seen to it
		f.Wanted = func(id jvmthread.ThreadID) bool { return pattern.MatchString(s.symbols.Thread(id).Name) }
	}
	return f
}

// errClosed says that a session takes nothing any more.
var errClosed = errors.New("the session is closed")

// take adds a carrier's events.
func (s *session) take(span ptrace.Span) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	c := &s.carrier
	if err := threadpdata.Parse(span, s.symbols, c); err != nil {
		return err
	}
	s.heard = time.Now()
	if c.Thread.ID != jvmthread.NoThread {
		s.symbols.SetThread(c.Thread)
	}
	s.engine.Add(ordering.Part{
		Batch: c.Batch, Part: c.Part, Parts: c.Parts, Watermark: c.Watermark, Before: c.Before, End: c.End, Events: c.Events,
	})
	return nil
}

// advance goes as far as what was taken allows, and returns the windows that are complete, and why the session ended if it did.
func (s *session) advance() (windows []ptrace.Traces, end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ""
	}
	s.engine.Advance(s.emit)
	s.watchStall(time.Now())
	s.publish()
	return s.takeWindows(), s.engine.End()
}

// watchStall keeps since when the engine waits for the same batch.
func (s *session) watchStall(now time.Time) {
	switch awaits := s.engine.Awaits(); {
	case !s.engine.Stalled():
		s.stalled = time.Time{}
	case s.stalled.IsZero() || s.awaited != awaits:
		s.stalled, s.awaited = now, awaits
	}
}

// check gives up a batch that is missing for too long, and tells whether the session was silent for too long, and why it ended if it did.
func (s *session) check(now time.Time) (windows []ptrace.Traces, silent bool, end string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, ""
	}
	if !s.stalled.IsZero() && now.Sub(s.stalled) >= s.proc.cfg.ReorderTimeout {
		s.engine.Skip(s.emit)
		s.watchStall(now)
		s.publish()
	}
	return s.takeWindows(), now.Sub(s.heard) >= s.proc.cfg.SessionTimeout, s.engine.End()
}

// close cuts the last window. The session takes nothing any more.
func (s *session) close(why window.Cut) []ptrace.Traces {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.engine.Close(why, s.emit)
	s.publish()
	s.logEnd(why)
	return s.takeWindows()
}

func (s *session) takeWindows() []ptrace.Traces {
	w := s.windows
	s.windows = nil
	return w
}

// emit makes the trace of a window.
func (s *session) emit(w *window.Window) {
	budget := s.proc.cfg.MaxSpansPerWindow
	s.finder.Find(w)
	path := threadpdata.Segments(w, budget)
	reserved := 0
	if len(path) > 0 {
		reserved = len(path) + 1
	}
	w.Select(budget, reserved)
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	s.resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	s.emitter.Append(w, path, ss.Spans())
	s.windows = append(s.windows, td)
	folded := w.FoldedThreads().Count
	for _, l := range w.Lanes {
		folded += l.Folded.Count
	}
	s.proc.telemetry.ProcessorThreadSpanFolded.Add(context.Background(), int64(folded)) //nolint:gosec // a count
	s.count(w)
	for th := range s.engine.Timeline().Threads {
		if th.Dead() && th.Open().Start < w.Start {
			s.symbols.DropThread(th.Open().Thread)
		}
	}
}
