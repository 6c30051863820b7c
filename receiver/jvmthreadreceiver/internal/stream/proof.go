// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"

	"github.com/weft-otel/weft/internal/wire"
)

// prove reports whether the agent has proved that it owns the session of its hello. An agent that has not may have a session only if the
// configuration allows that.
func (all *sessions) prove(hello *wire.Hello) (proven bool, err error) {
	switch {
	case hello.IsProven():
		return true, nil
	case !hello.Secret.IsZero():
		return false, unauthorized("the secret is not that of session %s: another process claims the session, or the agent is broken", hello.Session)
	case !all.Config.AllowUnverifiedSessions:
		return false, unauthorized("the hello of session %s has no secret: update the agent, or set "+
			"protocols::stream::allow_unverified_sessions: true, which lets any process that can connect take over the sessions of old agents",
			hello.Session)
	}
	return false, nil
}

func unauthorized(format string, args ...any) error {
	return &refusal{wire.RefuseUnauthorized, fmt.Sprintf(format, args...)}
}

// resume prepares the session for the first batch of a connection. If the agent has talked to another receiver meanwhile, that one has
// the batches in between.
func (s *session) resume(hello *wire.Hello) { s.continueAfter(hello.Acked) }

// continueAfter skips batches that were delivered, by this receiver or another one.
func (s *session) continueAfter(last uint64) {
	if last > s.Last {
		s.Last = last
		s.late, s.delivered = true, true
	}
}

// follows checks that a batch is the next one of its session. Agents number them without gaps, across connections.
func (s *session) follows(frame wire.Frame, sequence uint64) error {
	if sequence-1 != s.Last { // 0 is not a number of a batch
		return invalid(frame, fmt.Sprintf("sequence %d follows %d, want %d", sequence, s.Last, s.Last+1))
	}
	return nil
}
