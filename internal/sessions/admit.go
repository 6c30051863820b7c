// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// errOtherSender makes a sender try again: an agent may have moved to another edge, whose first batches come while the session is bound to the
// previous one.
var errOtherSender = errors.New("another sender has a session; it can be continued reorder_timeout after its last batch from there")

// admit reports whether a carrier may reach its session. With keys it must be signed, unless it comes from a receiver in this process; without,
// it must be from the sender of the session. It comes before all that a carrier could change.
func (s *Set) admit(ctx context.Context, sender origin.Sender, span ptrace.Span) (bool, error) {
	id := jvmthread.SessionID(span.TraceID())
	if s.keys != nil {
		if threadpdata.IsDirect(ctx) {
			return true, nil
		}
		verdict := s.keys.Check(span)
		if verdict != origin.Genuine {
			s.repel(ctx, s.find(id), string(verdict))
		}
		return verdict == origin.Genuine, nil
	}
	if e := s.find(id); e != nil && !s.binds(e, sender) {
		s.repel(ctx, e, "other_sender")
		return false, errOtherSender
	}
	return true, nil
}

// find returns a session, or nil.
func (s *Set) find(id jvmthread.SessionID) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

// binds reports whether a sender has a session, or gets it, because the previous one is not known or silent.
func (s *Set) binds(e *entry, sender origin.Sender) bool {
	if sender == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if e.sender != sender && e.sender != "" && now.Sub(e.spoken) < s.Config.ReorderTimeout {
		return false
	}
	e.sender, e.spoken = sender, now
	return true
}

// repel counts a carrier that has no right to its session, nil if that is not known. What it says about itself is not counted. The log has a line
// for each session, and one for all that are not known.
func (s *Set) repel(ctx context.Context, e *entry, anomaly string) {
	for m := range s.instruments {
		m.anomaly(ctx, anomaly, 1)
	}
	const text = "Refused carriers; further ones are only counted, in the anomalies metric"
	switch {
	case e == nil && s.repelled.CompareAndSwap(false, true):
		s.Logger.Warn(text, zap.String("kind", anomaly))
	case e != nil && e.warned.CompareAndSwap(false, true):
		s.Logger.Warn(text, zap.String("kind", anomaly), zap.Stringer("session", e.ID), zap.String("service", threadpdata.ServiceName(e.Resource)))
	}
}
