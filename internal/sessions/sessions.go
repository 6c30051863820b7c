// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package sessions answers: which JVMs does a component follow, and when does each of them end? It holds the session life cycle that all
// components reading carriers share: a session starts with its first carrier and advances with each of them, a missing batch is given up
// after a timeout, and the session ends when its end arrives, when it has been silent for too long, or when the component shuts down.
package sessions

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/sessions/journal"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Config bounds a Set.
type Config struct {
	Engine         engine.Config // of an Analyzer
	MaxSessions    int           // followed concurrently; carriers of further sessions are refused and counted
	SessionTimeout time.Duration // of silence, after which a session is closed
	ReorderTimeout time.Duration // after which a missing batch is given up
	MemoryLimit    int64         // bytes that may be held for the sessions; 0: no limit
	AckWithin      time.Duration // after which Consume returns if the carriers are still to be processed; 0: at once
}

// Settings are the dependencies of a Set.
type Settings struct {
	Config  Config
	Logger  *zap.Logger
	Metrics Metrics // of one component; an Analyzer has those of its members
	// Open returns the Handler of a new session, before its first carrier is processed.
	Open func(*Session) Handler
}

// Set is the sessions that are followed.
type Set struct {
	Settings

	keys    *origin.Keys // nil: carriers need no signature
	metrics atomic.Pointer[[]Metrics]
	journal *journal.Journal // nil: none
	restore sync.Once

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*entry
	closed   bool
	ended    recent         // sessions that ended in order: carriers that still arrive for them are late
	lost     []journal.Lost // sessions that were lost: batches from before that arrive again are repeats
	failed   recent         // sessions that failed: further carriers would most likely make them fail again
	passed   carried        // carriers that were taken
	pool     *pool
	memory   memory

	carriers sync.Pool   // shared by the sessions, because room for many events in each of them would be too much
	warned   atomic.Bool // about refused carriers
	repelled atomic.Bool // carriers of an unknown session, which was logged
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// New returns a Set that passes the carriers of each session to a Handler.
func New(set Settings) *Set {
	s := &Set{
		Settings: set, sessions: make(map[jvmthread.SessionID]*entry),
		carriers: sync.Pool{New: func() any { return new(threadpdata.Carrier) }},
	}
	s.pool = newPool(s.process, s.countBacklog)
	s.memory.limit, s.memory.held = set.Config.MemoryLimit, budget.Process.New(budget.Sessions, set.Config.MemoryLimit)
	s.metrics.Store(&[]Metrics{set.Metrics})
	return s
}

// maxKeptEvents bounds the room for events, at 48 bytes each, that a free carrier keeps.
const maxKeptEvents = 1 << 16

func (s *Set) release(c *threadpdata.Carrier) {
	if cap(c.Events) <= maxKeptEvents {
		s.carriers.Put(c)
	}
}

// Trust makes a signature necessary, if there are keys. Call it once, before the first carrier.
func (s *Set) Trust(keys *origin.Keys) { s.keys = keys }

// Start starts watching for silent sessions and missing batches.
func (s *Set) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.wg.Go(func() { s.watch(ctx) })
}

// Shutdown closes all sessions and delivers what they hold, which would be lost otherwise. It may be called twice.
func (s *Set) Shutdown(ctx context.Context) {
	if s.stop != nil {
		s.stop()
	}
	s.wg.Wait()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.pool.drain()
	s.mu.Lock()
	all := s.sessions
	s.sessions = nil
	s.mu.Unlock()
	for _, e := range all {
		s.countSessions(ctx, -1)
		e.deliver(ctx, e.close(window.CutShutdown))
	}
	if all != nil {
		s.pool.room.Retire()
		s.memory.held.Retire()
	}
	pathMemory.clear()
	incidentMemory.clear()
	profileMemory.clear()
}

// Consume takes the carriers in td, without changing td. Other goroutines process them, which may take long when windows end. Consume waits
// for them, but no longer than Config.AckWithin, unless the backlog of a session is full. It returns an error if ctx ends meanwhile; the sender
// should then send td again. So it should if another sender has a session: that one may be gone soon.
func (s *Set) Consume(ctx context.Context, td ptrace.Traces) error {
	s.resume(ctx)
	begin, sender := time.Now(), origin.SenderOf(ctx)
	var done *receipt
	var waits error
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			if !threadpdata.IsCarrier(ss.Scope()) {
				continue
			}
			if done == nil {
				done = newReceipt()
			}
			for _, span := range ss.Spans().All() {
				admitted, err := s.admit(ctx, sender, span)
				if err != nil {
					waits = err // for this one; the others need not
				}
				if !admitted {
					continue
				}
				if err := s.takeSafely(ctx, sender, rs.Resource(), span, done); err != nil {
					return err
				}
			}
		}
	}
	if done != nil {
		done.wait(s.journal != nil, s.Config.AckWithin-time.Since(begin)) // it may have waited for memory
	}
	return waits
}

// take adds a carrier to the backlog of its session, unless it is refused or was taken before.
func (s *Set) take(ctx context.Context, sender origin.Sender, res pcommon.Resource, span ptrace.Span, done *receipt) error {
	id := jvmthread.SessionID(span.TraceID())
	if s.passed.again(id, span.SpanID()) {
		return nil
	}
	e := s.sessionOf(ctx, sender, res, span)
	if e == nil {
		return nil
	}
	j := newJob(span, done)
	if !threadpdata.IsDirect(ctx) { // an earlier life of the sender may have got earlier batches, which come later
		threadpdata.DropFirst(j.span)
	}
	added := false
	defer func() {
		if !added {
			j.finish() // or the sender would wait for it, also after a panic
		}
	}()
	s.makeRoom(ctx, e, &j)
	err := s.pool.add(ctx, e, j)
	added = err == nil
	if !added {
		s.passed.forget(id, span.SpanID())
	}
	return err
}

// sessionOf returns the session of a carrier, or nil after it has refused the carrier.
func (s *Set) sessionOf(ctx context.Context, sender origin.Sender, res pcommon.Resource, span ptrace.Span) *entry {
	e, anomaly := s.entry(ctx, jvmthread.SessionID(span.TraceID()), sender, res, span)
	if anomaly != "" {
		s.refuse(ctx, span, anomaly)
		return nil
	}
	return e
}

// entry returns the session of a carrier, a new one if the carrier is valid; otherwise the kind of anomaly, or nothing if there is nothing to
// end.
func (s *Set) entry(ctx context.Context, id jvmthread.SessionID, sender origin.Sender, res pcommon.Resource, span ptrace.Span) (e *entry, anomaly string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e = s.sessions[id]; e != nil {
		return e, ""
	}
	switch {
	case s.closed:
		return nil, "after_shutdown"
	case s.ended.has(id):
		return nil, "after_end"
	case s.failed.has(id):
		return nil, "after_failure"
	case threadpdata.EndOf(span) == threadpdata.EndLost && threadpdata.CountEvents(span) == 0: // its number is that of the next batch, if one comes
		return nil, ""
	case len(s.sessions) >= s.Config.MaxSessions:
		return nil, "session_limit"
	}
	if err := threadpdata.Check(span); err != nil {
		s.logBad(id, err)
		return nil, badCarrier
	}
	lost := s.lostBefore(id)
	if lost != nil && threadpdata.BatchOf(span) < lost.Next {
		return nil, "" // a repeat
	}
	e = s.newEntry(id, res)
	e.sender, e.spoken = sender, time.Now()
	if h, ok := e.handler.(*analysis); ok {
		h.returns(lost)
	}
	s.sessions[id] = e
	s.countSessions(ctx, 1)
	return e, ""
}

const badCarrier = "bad_carrier"

func (s *Set) logBad(id jvmthread.SessionID, err error) {
	s.Logger.Debug("Dropped a span that is in the scope of raw thread events but is not a carrier", zap.Stringer("session", id), zap.Error(err))
}

// refuse counts a carrier as an anomaly, and its events as lost.
func (s *Set) refuse(ctx context.Context, span ptrace.Span, anomaly string) {
	for m := range s.instruments {
		m.EventsLost.Add(ctx, threadpdata.CountEvents(span), whereRefused)
		m.anomaly(ctx, anomaly, 1)
	}
	if first := s.warned.CompareAndSwap(false, true); first {
		s.Logger.Warn("Refused raw thread events; further ones are only counted, in the events_lost metric", zap.String("kind", anomaly))
	}
}

func (s *Set) countSessions(ctx context.Context, n int64) {
	for m := range s.instruments {
		m.Sessions.Add(ctx, n)
	}
}

// countBacklog adds to what the first component reports as held.
func (s *Set) countBacklog(bytes int) {
	if all := *s.metrics.Load(); len(all) > 0 && all[0].Held != nil {
		all[0].Held.Add(context.Background(), int64(bytes))
	}
}

func (s *Set) all() []*entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.sessions))
}

// watch checks the sessions every second until ctx ends.
func (s *Set) watch(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	begun := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			pathMemory.trim(now)
			incidentMemory.trim(now)
			profileMemory.trim(now)
			if now.Sub(begun) >= resumePatience {
				s.resume(ctx)
			}
			for _, e := range s.all() {
				s.check(e, now)
			}
			s.noteWaits()
			s.relieve()
		}
	}
}
