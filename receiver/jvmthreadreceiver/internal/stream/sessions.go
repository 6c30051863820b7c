// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// sessions records which connection serves which session, and ends the sessions that do not reconnect.
//
// One goroutine at a time owns a session: the one that holds its turn.
type sessions struct {
	Settings

	ctx context.Context //nolint:containedctx // of Server.Serve, which outlives the connections
	wg  sync.WaitGroup  // goroutines that wait for a reconnect

	admission *admission
	flight    *budget.Budget // batches on their way to the next component

	mu     sync.Mutex
	byID   map[jvmthread.SessionID]*session
	byPeer map[string]int // number of sessions that began with a connection of a peer
	lost   returning
	ended  returning // they may return only to repeat their end
	failed returning // a defect ended a connection of theirs, and would most likely end the next one
}

func newSessions(settings Settings) *sessions {
	admission := newAdmission(settings.Config)
	return &sessions{
		Settings: settings, admission: admission, flight: budget.Process.New(budget.Buffers, admission.buffers.Limit()), byID: make(map[jvmthread.SessionID]*session),
		byPeer: make(map[string]int),
	}
}

// held returns the memory in bytes of all connections and sessions.
func (all *sessions) held() int64 { return all.admission.held() + all.flight.Held() }

// close gives back the memory of all sessions, when no connection is left.
func (all *sessions) close() {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, s := range all.byID { // they continue with the next receiver
		all.admission.definitions.Give(s.cost)
	}
	all.admission.definitions.Retire()
	all.admission.buffers.Retire()
	all.flight.Retire()
}

// serves reports whether a connection serves the session.
func (all *sessions) serves(id jvmthread.SessionID) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	s, ok := all.byID[id]
	return ok && s.owner != nil
}

// endPatience limits how long a lost session is kept while the next component does not accept its end.
const endPatience = time.Minute

// claim waits for the turn of the hello's session and returns the session. A connection that already serves it is ended: the agent has
// given that connection up, whether or not its end was seen here.
func (all *sessions) claim(c *connection, hello *wire.Hello) (*session, error) {
	proven, err := all.prove(hello)
	if err != nil {
		return nil, err
	}
	if all.hasFailed(hello.Session) {
		return nil, &refusal{wire.RefuseLimit, defective}
	}
	ctx, cancel := context.WithTimeout(c.ctx, all.Config.HelloTimeout)
	defer cancel()
	for {
		s, before, err := all.enlist(c, hello, proven)
		if err != nil {
			return nil, err
		}
		if before != nil {
			before.cancel(errSuperseded)
		}
		select {
		case s.turn <- struct{}{}:
		case <-ctx.Done():
			all.withdraw(s, c)
			return nil, &refusal{wire.RefuseLimit, "the session is busy on another connection"}
		}
		all.mu.Lock()
		mine, over := s.owner == c, s.over
		all.mu.Unlock()
		if mine && !over {
			s.resume(hello)
			return s, nil
		}
		<-s.turn
		if !over {
			return nil, &refusal{wire.RefuseLimit, "a newer connection took over the session"}
		}
	}
}

// enlist makes c the owner of the session, which it creates if necessary, and returns the previous owner.
func (all *sessions) enlist(c *connection, hello *wire.Hello, proven bool) (s *session, before *connection, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s, ok := all.byID[hello.Session]
	if !ok {
		if limit := all.Config.MaxSessions; len(all.byID) >= limit {
			return nil, nil, &refusal{wire.RefuseLimit, fmt.Sprintf("limit of %d sessions (protocols::stream::max_sessions) reached", limit)}
		}
		if each := all.Config.perPeer(all.Config.MaxSessions); all.byPeer[c.peer.name] >= each {
			return nil, nil, &refusal{
				wire.RefuseLimit,
				fmt.Sprintf("limit of %d sessions of %s (three quarters of protocols::stream::max_sessions) reached", each, c.peer.name),
			}
		}
		s = newSession(hello)
		s.peer = c.peer.name
		if !all.admission.definitions.Take(s.cost) {
			return nil, nil, &refusal{wire.RefuseLimit, "no memory for another session (protocols::stream::max_definitions_mib)"}
		}
		if proven { // only now: what is known of a session that is refused must stay
			s.continueAfter(all.lost.take(hello.Session))
			s.ended = all.ended.take(hello.Session) > 0
		}
		all.byID[hello.Session] = s
		all.byPeer[s.peer]++
		outlet.Count(all.Out.Telemetry.ReceiverJvmThreadSessions, 1)
		if !s.ended {
			all.Out.Log.Info("Session started", zap.Stringer("session", s.ID), zap.String("service", s.Service()), zap.Uint32("pid", hello.PID))
		}
	}
	if s.proven && !proven {
		return nil, nil, unauthorized("session %s was opened with a secret, and this hello has none: another process claims the session", s.ID)
	}
	s.proven = proven
	before = s.owner
	s.owner = c
	if s.keep != nil {
		s.keep()
	}
	return s, before, nil
}

// release gives up the turn and the session. A session that is not over waits for another connection.
func (all *sessions) release(s *session, c *connection) {
	s.Batch = outlet.Batch{}
	<-s.turn
	all.withdraw(s, c)
}

func (all *sessions) withdraw(s *session, c *connection) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if s.owner != c || s.over {
		return
	}
	s.owner = nil
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		if s.ended {
			all.ended.add(s.ID, s.Last)
		}
		if !s.delivered || s.ended { // nothing to continue, and nothing to end
			all.forget(s)
			return
		}
	default: // an earlier connection still delivers a batch
	}
	s.lostAt = time.Now().Add(all.Config.SessionLinger)
	if !s.lingers {
		s.lingers = true
		all.wg.Go(func() { all.linger(s) })
	}
}

// linger ends the session as lost unless it reconnects in time.
func (all *sessions) linger(s *session) {
	for {
		all.mu.Lock()
		left := time.Until(s.lostAt)
		if s.owner != nil || s.over {
			s.lingers = false
			all.mu.Unlock()
			return
		}
		all.mu.Unlock()
		if left <= 0 {
			all.lose(s)
		} else {
			outlet.Pause(all.ctx, left)
		}
		if all.ctx.Err() != nil {
			return // the session continues with another receiver
		}
	}
}

// lose delivers that the session is lost and removes it only then: a connection that comes before finds the session and keeps it, one
// that comes later starts it again. So the end of the previous life never overtakes a batch of the next one.
func (all *sessions) lose(s *session) {
	select {
	case s.turn <- struct{}{}:
	case <-all.ctx.Done():
		return
	}
	defer func() { <-s.turn }()
	ending, cancel := context.WithTimeout(all.ctx, endPatience)
	defer cancel()
	all.mu.Lock()
	if s.owner != nil || s.over || time.Until(s.lostAt) > 0 {
		all.mu.Unlock()
		return
	}
	s.keep = cancel
	all.mu.Unlock()

	last := s.Last // the end will have a number, too
	s.End(threadpdata.EndLost, s.Watermark)
	err := all.Out.Deliver(ending, s.Session)

	all.mu.Lock()
	defer all.mu.Unlock()
	s.keep = nil
	about := []zap.Field{zap.Stringer("session", s.ID), zap.String("service", s.Service())}
	switch {
	case err == nil:
		all.Out.Log.Info("Session lost: its agent did not reconnect", about...)
	case s.owner != nil || !errors.Is(err, context.DeadlineExceeded):
		return // the agent has reconnected, or the receiver shuts down
	default:
		outlet.Count(all.Out.Telemetry.ReceiverJvmThreadEndsRefused, 1)
		all.Out.Log.Warn("Session lost, but the next component did not accept its end", append(about, zap.Error(err))...)
	}
	all.forget(s)
	if s.proven {
		all.lost.add(s.ID, last)
	}
}

// end delivers the end that the owner of a session has received, once: an agent repeats it on another connection unless it has seen the
// receiver close this one.
func (all *sessions) end(ctx context.Context, s *session, end wire.End) error {
	reason := threadpdata.EndExit
	if end.Reason == wire.EndDetached {
		reason = threadpdata.EndDetached
	}
	if !s.ended {
		s.End(reason, s.wallTime(end.Time))
		if err := all.Out.Deliver(ctx, s.Session); err != nil {
			return err
		}
		all.Out.Log.Info("Session ended", zap.Stringer("session", s.ID), zap.String("service", s.Service()), zap.String("reason", reason))
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forget(s)
	if s.proven {
		all.ended.add(s.ID, s.Last)
	}
	return nil
}

// forget removes a session. The caller holds the lock and the session's turn.
func (all *sessions) forget(s *session) {
	s.over = true
	delete(all.byID, s.ID)
	all.admission.definitions.Give(s.cost)
	if all.byPeer[s.peer]--; all.byPeer[s.peer] == 0 {
		delete(all.byPeer, s.peer)
	}
	outlet.Count(all.Out.Telemetry.ReceiverJvmThreadSessions, -1)
}
