// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// session turns the windows of one JVM into traces.
type session struct {
	*sessions.Session

	proc      *threadSpan
	emitter   *threadpdata.Emitter
	incidents *incident.Finder // nil: off
	windows   []piece          // not sent yet
	unsent    int              // spans of them
	refused   atomic.Int64     // spans since the last root that says so
	requests  []ptrace.Traces  // not sent yet: spans for the traces of requests
}

func (p *threadSpan) follow(s *sessions.Session) sessions.Follower {
	f := &session{Session: s, proc: p, incidents: p.cfg.Incidents.finder(s.Engine.Waits()), emitter: threadpdata.NewEmitter(s.ID, s.Symbols, s.Engine.Waits())}
	f.emitter.CompleteStacks, f.emitter.Shift = p.cfg.CompleteStacks, s.Shift
	if p.cfg.Calls {
		f.emitter.Calls = new(threadpdata.Calls)
		s.Engine.Watch(f.emitter.Calls.See)
	}
	return f
}

// Window turns a window into a trace.
func (s *session) Window(w *window.Window) {
	s.Select(w)
	s.stream(w)
	folded := w.FoldedThreads().Count
	for _, l := range w.Lanes {
		folded += l.Folded.Count
	}
	s.proc.telemetry.ProcessorThreadSpanFolded.Add(context.Background(), int64(folded))
}

// traces returns new data of the session, with its spans.
func (s *session) traces() (ptrace.Traces, ptrace.SpanSlice) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	s.Resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	return td, ss.Spans()
}

// Advanced turns the waits of requests that have ended into spans. An open window is not shown.
func (s *session) Advanced() {
	if !s.proc.cfg.RequestSpans.Enabled {
		return
	}
	r := s.Engine.Requests().Take()
	if s.Replaying() {
		return // an earlier life has sent them
	}
	if r.Dropped > 0 {
		s.proc.telemetry.ProcessorThreadSpanRequestSpansDropped.Add(context.Background(), int64(r.Dropped))
	}
	if len(r.Waits)+len(r.Holds)+len(r.Ends) == 0 {
		return
	}
	td, spans := s.traces()
	if s.emitter.AppendRequests(r, spans); spans.Len() > 0 {
		s.requests = append(s.requests, td)
	}
}

// Closed does the same for the waits that end with the session. If that has failed, the spans of a window that are not complete are dropped, but
// for those of a large window that were sent before the rest was made.
func (s *session) Closed(why window.Cut) {
	if why != window.CutFailed {
		s.Advanced()
		return
	}
	whole := len(s.windows)
	for whole > 0 && !s.windows[whole-1].last {
		whole--
	}
	s.drop(s.windows[whole:])
	s.windows = s.windows[:whole]
}

// Held estimates the bytes of what the session remembers besides its engine.
func (s *session) Held() int {
	held := s.emitter.Held()
	if s.incidents != nil {
		held += s.incidents.Held()
	}
	return held
}

// Take returns what sends the spans that are complete.
func (s *session) Take() sessions.Delivery {
	requests, windows := s.requests, s.windows
	if len(requests)+len(windows) == 0 {
		return nil
	}
	s.requests, s.windows, s.unsent = nil, nil, 0
	return func(ctx context.Context) {
		defer s.sendPieces(ctx, windows) // also after a panic
		s.proc.sendRequests(ctx, requests)
	}
}
