// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// defect is a panic that ended a connection.
type defect struct{ *failure.Panic }

const defective = "a defect in the receiver ended a connection of the session; the log of the collector has a line about it"

// contain calls do, and returns its panic as an error.
func contain(do func() error) (err error) {
	if p := failure.Contain(func() { err = do() }); p != nil {
		return &defect{p}
	}
	return err
}

// noteFailure notes that a defect has ended a connection of a session. The agent connects again and repeats what was not acknowledged: it is
// refused then, as long as the session is one of the last that failed.
func (all *sessions) noteFailure(s *session, err error) {
	if errors.As(err, new(*defect)) {
		all.mu.Lock()
		defer all.mu.Unlock()
		all.failed.add(s.ID, s.Last)
	}
}

func (all *sessions) hasFailed(id jvmthread.SessionID) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	_, failed := all.failed.last[id]
	return failed
}
