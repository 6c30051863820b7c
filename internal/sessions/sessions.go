// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package sessions answers: which JVMs does a component follow, and when does each of them end? It holds the session life cycle that all
// components reading carriers share: a session starts with its first carrier and advances with each of them, a missing batch is given up
// after a timeout, and the session ends when its end arrives, when it has been silent for too long, or when the component shuts down.
package sessions

import (
	"context"
	"errors"
	"maps"
	"slices"
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

// Config bounds a Set.
type Config struct {
	Engine         engine.Config // not used by NewRaw
	MaxSessions    int           // followed concurrently; carriers of further sessions are refused and counted
	SessionTimeout time.Duration // of silence, after which a session is closed
	ReorderTimeout time.Duration // after which a missing batch is given up
}

// Settings are the dependencies of a Set.
type Settings[T any] struct {
	Config  Config
	Logger  *zap.Logger
	Metrics Metrics

	// Follow is called for each new session, before its first carrier is processed. Not used by NewRaw.
	Follow func(*Session) Follower[T]
	// Deliver sends what a session has ready. No lock is held; calls for one session may overlap. Not needed if Take never returns anything.
	Deliver func(context.Context, []T)
}

// Set is the sessions that a component follows.
type Set[T any] struct {
	Settings[T]

	open func(*Session) Handler[T]

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*entry[T]
	ended    recent // sessions that ended in order: carriers that still arrive for them are late

	carriers sync.Pool   // shared by the sessions, because room for many events in each of them would be too much
	warned   atomic.Bool // about refused carriers
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// NewRaw returns a Set that passes the carriers of each session to the Handler that open returns.
func NewRaw[T any](set Settings[T], open func(*Session) Handler[T]) *Set[T] {
	return &Set[T]{
		Settings: set, open: open, sessions: make(map[jvmthread.SessionID]*entry[T]),
		carriers: sync.Pool{New: func() any { return new(threadpdata.Carrier) }},
	}
}

// maxKeptEvents bounds the room for events, at 48 bytes each, that a free carrier keeps.
const maxKeptEvents = 1 << 16

func (s *Set[T]) release(c *threadpdata.Carrier) {
	if cap(c.Events) <= maxKeptEvents {
		s.carriers.Put(c)
	}
}

// Start starts watching for silent sessions and missing batches.
func (s *Set[T]) Start() {
	ctx, cancel := context.WithCancel(context.Background()) //nolint:gosec // called in Shutdown
	s.stop = cancel
	s.wg.Go(func() { s.watch(ctx) })
}

// Shutdown closes all sessions and delivers what they hold, which would be lost otherwise. It may be called twice.
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

// Consume processes the carriers in td without changing td.
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

// Each calls visit for each session that has a Follower, one after the other and with the session locked, and delivers what is ready then.
func (s *Set[T]) Each(ctx context.Context, visit func(Follower[T])) {
	for _, e := range s.all() {
		s.visit(ctx, e, func() (silent bool) {
			if a, ok := e.handler.(*analysis[T]); ok {
				visit(a.follower)
			}
			return false
		})
	}
}

// touched is the sessions that got a carrier.
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
		s.visit(ctx, e, e.advance)
	}
}

// take passes a carrier to its session, and returns the session; nil if the carrier is refused.
func (s *Set[T]) take(ctx context.Context, res pcommon.Resource, span ptrace.Span) *entry[T] {
	id := jvmthread.SessionID(span.TraceID())
	for {
		e, anomaly := s.entry(ctx, id, res, span)
		if anomaly != "" {
			s.refuse(ctx, span, anomaly)
			return nil
		}
		err := e.take(span)
		if errors.Is(err, errClosed) {
			s.remove(ctx, e)
			continue // it was closed just now: the carrier opens a new session, or is late
		}
		if err != nil {
			s.refuse(ctx, span, badCarrier)
			s.logBad(id, err)
		}
		return e
	}
}

// entry returns the session of a carrier, a new one if the carrier is valid; otherwise the kind of anomaly.
func (s *Set[T]) entry(ctx context.Context, id jvmthread.SessionID, res pcommon.Resource, span ptrace.Span) (e *entry[T], anomaly string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e = s.sessions[id]; e != nil {
		return e, ""
	}
	switch {
	case s.ended.has(id):
		return nil, "after_end"
	case len(s.sessions) >= s.Config.MaxSessions:
		return nil, "session_limit"
	}
	if err := threadpdata.Check(span); err != nil {
		s.logBad(id, err)
		return nil, badCarrier
	}
	e = s.newEntry(id, res)
	s.sessions[id] = e
	s.Metrics.Sessions.Add(ctx, 1)
	return e, ""
}

const badCarrier = "bad_carrier"

func (s *Set[T]) logBad(id jvmthread.SessionID, err error) {
	s.Logger.Debug("Dropped a span that is in the scope of raw thread events but is not a carrier", zap.Stringer("session", id), zap.Error(err))
}

// refuse counts a carrier as an anomaly, and its events as lost.
func (s *Set[T]) refuse(ctx context.Context, span ptrace.Span, anomaly string) {
	s.Metrics.EventsLost.Add(ctx, threadpdata.CountEvents(span), whereRefused)
	s.Metrics.anomaly(ctx, anomaly, 1)
	if first := s.warned.CompareAndSwap(false, true); first {
		s.Logger.Warn("Refused raw thread events; further ones are only counted, in the events_lost metric", zap.String("kind", anomaly))
	}
}

func (s *Set[T]) all() []*entry[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.sessions))
}

// watch checks the sessions every second until ctx ends.
func (s *Set[T]) watch(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			for _, e := range s.all() {
				s.visit(ctx, e, func() bool { return e.check(now) })
			}
		}
	}
}
