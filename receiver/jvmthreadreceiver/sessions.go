// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// sessions knows which connection serves which session, and ends the sessions that do not come back.
//
// A session is of one goroutine at a time: of the one that holds its turn.
type sessions struct {
	receiver *threadReceiver

	mu   sync.Mutex
	byID map[jvmthread.SessionID]*session
}

// endPatience bounds how long a lost session is kept since the next component does not take its end.
const endPatience = time.Minute

// claim returns the session of the hello when it is c's turn. A connection that has the session already is stopped: the agent has given
// it up, whether we have seen that or not.
func (all *sessions) claim(c *connection, hello *wire.Hello) (*session, error) {
	ctx, cancel := context.WithTimeout(c.ctx, all.receiver.cfg.HelloTimeout)
	defer cancel()
	for {
		s, before, err := all.enlist(c, hello)
		if err != nil {
			return nil, err
		}
		if before != nil {
			before.stop()
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
			return s, nil
		}
		<-s.turn
		if !over {
			return nil, &refusal{wire.RefuseLimit, "yet another connection took the session over"}
		}
	}
}

// enlist makes c the owner of the session, a new one if it is not known, and returns the owner before.
func (all *sessions) enlist(c *connection, hello *wire.Hello) (s *session, before *connection, err error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	s, ok := all.byID[hello.Session]
	if !ok {
		if limit := all.receiver.cfg.MaxSessions; len(all.byID) >= limit {
			return nil, nil, &refusal{wire.RefuseLimit, fmt.Sprintf("%d sessions are known already, which is protocols::stream::max_sessions", limit)}
		}
		s = newSession(hello)
		all.byID[hello.Session] = s
		count(all.receiver.telemetry.ReceiverJvmThreadSessions, 1)
		all.receiver.log.Info("A session began", zap.Stringer("session", s.id), zap.String("service", s.service()), zap.Uint32("pid", hello.PID))
	}
	before = s.owner
	s.owner = c
	if s.keep != nil {
		s.keep()
	}
	return s, before, nil
}

// release gives up the turn and the session. A session that is not over waits for another connection.
func (all *sessions) release(s *session, c *connection) {
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
	s.lostAt = time.Now().Add(all.receiver.cfg.SessionLinger)
	if !s.lingers {
		s.lingers = true
		all.receiver.wg.Go(func() { all.linger(s) })
	}
}

// linger ends the session as lost when no connection has come for it in time.
func (all *sessions) linger(s *session) {
	ctx := all.receiver.ctx
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
			all.lose(ctx, s)
		} else {
			pause(ctx, left)
		}
		if ctx.Err() != nil {
			return // it lives on, with another receiver
		}
	}
}

// lose hands on that the session is lost, and forgets it only then: a connection that comes before finds the session and keeps it, one
// that comes later begins it afresh. So nothing of a new life is overtaken by the end of the old one.
func (all *sessions) lose(ctx context.Context, s *session) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.turn }()
	ending, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	all.mu.Lock()
	if s.owner != nil || s.over || time.Until(s.lostAt) > 0 {
		all.mu.Unlock()
		return
	}
	s.keep = cancel
	all.mu.Unlock()

	s.definitions, s.pending = definitions.New(symbols.New(symbols.DefaultLimits())), pending{} // an agent that comes back sends all again
	s.close(threadpdata.EndLost, s.watermark)
	err := all.receiver.out.deliver(ending, s)

	all.mu.Lock()
	defer all.mu.Unlock()
	s.keep = nil
	about := []zap.Field{zap.Stringer("session", s.id), zap.String("service", s.service())}
	switch {
	case err == nil:
		all.receiver.log.Info("A session is lost: its agent did not come back", about...)
	case s.owner != nil || !errors.Is(err, context.DeadlineExceeded):
		return // somebody came for it, or the receiver shuts down
	default:
		count(all.receiver.telemetry.ReceiverJvmThreadEndsRefused, 1)
		all.receiver.log.Warn("A session is lost, and the next component does not learn of it since it takes nothing", append(about, zap.Error(err))...)
	}
	all.forget(s)
}

// end hands on the end of a session, which its owner has read.
func (all *sessions) end(ctx context.Context, s *session, end wire.End) error {
	reason := threadpdata.EndExit
	if end.Reason == wire.EndDetached {
		reason = threadpdata.EndDetached
	}
	s.close(reason, s.wallTime(end.Time))
	if err := all.receiver.out.deliver(ctx, s); err != nil {
		return err
	}
	all.receiver.log.Info("A session ended", zap.Stringer("session", s.id), zap.String("service", s.service()), zap.String("reason", reason))
	all.mu.Lock()
	defer all.mu.Unlock()
	all.forget(s)
	return nil
}

// forget is called with the lock held, in the session's turn.
func (all *sessions) forget(s *session) {
	s.over = true
	delete(all.byID, s.id)
	s.tellHeld(all.receiver, 0)
	count(all.receiver.telemetry.ReceiverJvmThreadSessions, -1)
}
