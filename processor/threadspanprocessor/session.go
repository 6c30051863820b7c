// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// session turns the windows of one JVM into traces.
type session struct {
	*sessions.Session

	proc    *threadSpan
	emitter *threadpdata.Emitter
	windows []ptrace.Traces // not sent yet
}

func (p *threadSpan) follow(s *sessions.Session) sessions.Follower {
	f := &session{Session: s, proc: p, emitter: threadpdata.NewEmitter(s.ID, s.Symbols, s.Engine.Waits())}
	f.emitter.CompleteStacks = p.cfg.CompleteStacks
	if p.cfg.Calls {
		f.emitter.Calls = new(threadpdata.Calls)
		s.Engine.Watch(f.emitter.Calls.See)
	}
	return f
}

// Window turns a window into a trace.
func (s *session) Window(w *window.Window) {
	s.Select(w)
	path := threadpdata.Segments(w, s.MaxSpans())
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	s.Resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	s.emitter.Append(w, path, ss.Spans())
	s.windows = append(s.windows, td)
	folded := w.FoldedThreads().Count
	for _, l := range w.Lanes {
		folded += l.Folded.Count
	}
	s.proc.telemetry.ProcessorThreadSpanFolded.Add(context.Background(), int64(folded))
}

// Advanced does nothing: an open window is not shown.
func (*session) Advanced() {}

// Closed does nothing.
func (*session) Closed(window.Cut) {}

// Take returns what sends the complete traces.
func (s *session) Take() sessions.Delivery {
	windows := s.windows
	if len(windows) == 0 {
		return nil
	}
	s.windows = nil
	return func(ctx context.Context) { s.proc.send(ctx, windows) }
}
