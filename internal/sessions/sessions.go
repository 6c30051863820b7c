// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package sessions answers: which JVMs does a component follow, and when is each of them over? It is what the components that read carriers
// have in common: a session begins with its first carrier, its engine goes on with each, a batch that is missing is given up after a while,
// and the session ends when its end comes, when nothing is heard of it, or with the component.
package sessions

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Config sizes a Set.
type Config struct {
	Engine         engine.Config
	MaxSessions    int           // followed at one time; carriers of more are refused and counted
	SessionTimeout time.Duration // of silence, after which a session is ended
	ReorderTimeout time.Duration // after which a batch that is missing is given up
}

// Follower makes something of one session, which is a T or several. All calls of it come one at a time.
type Follower[T any] interface {
	// Window is given each window that is complete. The window is good until the call returns.
	Window(w *window.Window)
	// Advanced is called when the engine went on, after the windows that this completed.
	Advanced()
	// Closed is called once, after the last window.
	Closed(why window.Cut)
	// Take returns what is ready to be sent. It belongs to the caller.
	Take() []T
}

// Aggregator is a Follower that takes the sums that an agent in aggregated mode sends in place of events.
type Aggregator interface {
	// Aggregate is given each aggregate once, in no order. It is good until the call returns.
	Aggregate(a *jvmthread.Aggregate)
}

// Settings are what a Set works with.
type Settings[T any] struct {
	Config  Config
	Logger  *zap.Logger
	Metrics Metrics

	// Follow is called for each session that begins, before anything else comes of it.
	Follow func(*Session) Follower[T]
	// Deliver sends what a follower had ready. Nobody holds a lock; calls for one session may come at the same time.
	Deliver func(context.Context, []T)
}

// Set is the sessions that a component follows.
type Set[T any] struct {
	Settings[T]

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*entry[T]
	ended    Recent // sessions that ended in order: what still comes of them is late

	carriers sync.Pool   // of *threadpdata.Carrier: what one of many events needs is not kept for each session
	warned   atomic.Bool // of refused carriers
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// New returns a Set that follows nothing yet.
func New[T any](set Settings[T]) *Set[T] {
	return &Set[T]{
		Settings: set, sessions: make(map[jvmthread.SessionID]*entry[T]),
		carriers: sync.Pool{New: func() any { return new(threadpdata.Carrier) }},
	}
}

// Start begins to look after sessions of which nothing comes.
func (s *Set[T]) Start() {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // called in Shutdown
	s.stop = cancel
	s.wg.Go(func() { s.watch(ctx) })
}

// Shutdown closes all sessions and delivers what they held: nothing else protects it. Calling it twice does no harm.
func (s *Set[T]) Shutdown(ctx context.Context) {
	if s.stop != nil {
		s.stop()
	}
	s.wg.Wait()
	s.mu.Lock()
	all := s.sessions
	s.sessions = make(map[jvmthread.SessionID]*entry[T])
	s.mu.Unlock()
	for _, e := range all {
		s.Metrics.Sessions.Add(ctx, -1)
		s.deliver(ctx, e.close(window.CutShutdown))
	}
}

// Consume takes the carriers of td in, and leaves td as it is.
func (s *Set[T]) Consume(ctx context.Context, td ptrace.Traces) {
	touched := make(touched[T], 1)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			if threadpdata.IsCarrier(ss.Scope()) {
				s.takeAll(ctx, rs.Resource(), ss.Spans(), touched)
			}
		}
	}
	s.advance(ctx, touched)
}

// Extract takes the carriers of td in, and out of td.
func (s *Set[T]) Extract(ctx context.Context, td ptrace.Traces) {
	touched := make(touched[T], 1)
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		found := false
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			if !threadpdata.IsCarrier(ss.Scope()) {
				return false
			}
			found = true
			s.takeAll(ctx, rs.Resource(), ss.Spans(), touched)
			return true
		})
		return found && rs.ScopeSpans().Len() == 0
	})
	s.advance(ctx, touched)
}

// Each calls visit for each session, one after the other, and delivers what its follower then has ready. Nothing else happens to the session meanwhile.
func (s *Set[T]) Each(ctx context.Context, visit func(*Session, Follower[T])) {
	for _, e := range s.all() {
		s.deliver(ctx, e.visit(visit))
	}
}

// touched is the sessions that something came of.
type touched[T any] map[*entry[T]]struct{}

func (s *Set[T]) takeAll(ctx context.Context, res pcommon.Resource, spans ptrace.SpanSlice, touched touched[T]) {
	for _, span := range spans.All() {
		if e := s.take(ctx, res, span); e != nil {
			touched[e] = struct{}{}
		}
	}
}

func (s *Set[T]) advance(ctx context.Context, touched touched[T]) {
	for e := range touched {
		out, end := e.advance()
		s.deliver(ctx, out)
		if end != "" {
			s.drop(ctx, e, end)
		}
	}
}

// take gives a carrier to its session, and returns the session; nil if the carrier is refused.
func (s *Set[T]) take(ctx context.Context, res pcommon.Resource, span ptrace.Span) *entry[T] {
	id := jvmthread.SessionID(span.TraceID())
	for {
		e, odd := s.entry(ctx, id, res, span)
		if odd != "" {
			s.refuse(ctx, span, odd)
			return nil
		}
		err := e.take(span)
		if errors.Is(err, errClosed) {
			s.remove(ctx, e)
			continue // it was ended just now; what comes begins a new one, or is late
		}
		if err != nil {
			s.refuse(ctx, span, oddCarrier)
			s.logBad(id, err)
		}
		return e
	}
}

// entry finds the session of a carrier, or begins one if the carrier is good; else it says what is odd.
func (s *Set[T]) entry(ctx context.Context, id jvmthread.SessionID, res pcommon.Resource, span ptrace.Span) (e *entry[T], odd string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e = s.sessions[id]; e != nil {
		return e, ""
	}
	switch {
	case s.ended.Has(id):
		return nil, "after_end"
	case len(s.sessions) >= s.Config.MaxSessions:
		return nil, "session_limit"
	}
	if err := threadpdata.Check(span); err != nil {
		s.logBad(id, err)
		return nil, oddCarrier
	}
	e = s.newEntry(id, res)
	s.sessions[id] = e
	s.Metrics.Sessions.Add(ctx, 1)
	return e, ""
}

const oddCarrier = "bad_carrier"

func (s *Set[T]) logBad(id jvmthread.SessionID, err error) {
	s.Logger.Debug("a span in the scope of raw thread events is none of ours and was dropped", zap.Stringer("session", id), zap.Error(err))
}

// refuse counts a carrier that is not taken, and its events as lost.
func (s *Set[T]) refuse(ctx context.Context, span ptrace.Span, odd string) {
	s.Metrics.EventsLost.Add(ctx, int64(span.Events().Len()), whereRefused)
	s.Metrics.odd(ctx, odd, 1)
	if first := s.warned.CompareAndSwap(false, true); first {
		s.Logger.Warn("raw thread events were refused; later ones are counted only (events_lost, anomalies)", zap.String("kind", odd))
	}
}

// deliver sends what is ready. That the request which completed it is cancelled says nothing of it.
func (s *Set[T]) deliver(ctx context.Context, out []T) {
	if len(out) > 0 {
		s.Deliver(context.WithoutCancel(ctx), out)
	}
}

// drop forgets a session that is over. One that was lost may come back, and is then joined in its middle; one that ended does not.
func (s *Set[T]) drop(ctx context.Context, e *entry[T], end string) {
	why := window.CutEnd
	if end == threadpdata.EndLost {
		why = window.CutLost
	}
	s.end(ctx, e, why)
}

// end closes a session, and then forgets it: so what a follower does at the end is done before another session of the same JVM can begin.
func (s *Set[T]) end(ctx context.Context, e *entry[T], why window.Cut) {
	out := e.close(why)
	s.remove(ctx, e)
	s.deliver(ctx, out)
}

// remove forgets a session that is closed.
func (s *Set[T]) remove(ctx context.Context, e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[e.ID] != e {
		return
	}
	delete(s.sessions, e.ID)
	if e.why == window.CutEnd {
		s.ended.Add(e.ID)
	}
	s.Metrics.Sessions.Add(ctx, -1)
}

func (s *Set[T]) all() []*entry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*entry[T], 0, len(s.sessions))
	for _, e := range s.sessions {
		all = append(all, e)
	}
	return all
}
