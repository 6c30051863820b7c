// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import "context"

// Deliver sends a part of what a Follower makes of a window before Window returns, so that it need not keep a large result as a whole. The
// window remains valid, and the session continues when send has returned. Meanwhile the worker lets another one process other sessions.
func (s *Session) Deliver(send Delivery) {
	e := s.entry
	if e == nil {
		send(context.Background())
		return
	}
	e.passing = true
	e.sending.Store(true)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.sending.Store(false)
		e.passing = false
	}()
	do := func() { e.set.pool.send(func() { send(context.Background()) }) }
	if v := s.view; v.current.Verdict != nil { // it has borrowed memory, for which others would wait
		inner := do
		do = func() { pathMemory.lendAnother(inner) }
	}
	do()
}

// Pass says how many bytes of results wait for their delivery, or are being delivered, in addition to what was said before. The Follower that
// made them calls it, whether the session is locked or not.
func (s *Session) Pass(bytes int) {
	if s.entry != nil {
		set := s.entry.set
		set.memory.held.Change(max(-bytes, 0), max(bytes, 0))
		set.countBacklog(bytes)
	}
}
