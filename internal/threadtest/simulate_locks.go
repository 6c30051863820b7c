// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// parkFor parks a thread for a lock of java.util.concurrent. An old permit makes the first park return at once.
func (s *Simulation) parkFor(t *simThread, l *simLock) {
	t.runs, t.wants = false, l
	if t.permit {
		t.permit = false
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindPark, Lock: l.id, Peer: l.owner.id})
		s.state(t, jvmthread.StateParked)
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindUnparked})
		s.state(t, jvmthread.StateRunnable)
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindPark, Lock: l.id, Peer: l.owner.id})
	s.state(t, jvmthread.StateParked)
}

// unlock releases a lock of java.util.concurrent and unparks the first thread in its queue, which gets the lock a little later, unless another
// thread is faster: then it parks again.
func (s *Simulation) unlock(t *simThread, l *simLock) {
	t.held = slices.DeleteFunc(t.held, func(h *simLock) bool { return h == l })
	woken := len(l.queue) > 0 && !l.queue[0].thread.waking
	if woken {
		l.queue[0].thread.waking = true
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindUnpark, Peer: l.queue[0].thread.id})
	}
	s.Tenures[l.held].Released = s.now
	l.owner = nil
	if !woken {
		return
	}
	other := l.queue[0].thread
	s.after(30, func() {
		other.waking = false
		s.emit(other, jvmthread.Event{Kind: jvmthread.KindUnparked})
		s.state(other, jvmthread.StateRunnable)
		s.truth(jvmthread.InteractionHandoff, t, other, l.id)
		if l.owner != nil {
			s.parkFor(other, l)
			return
		}
		l.queue = l.queue[1:]
		s.grant(other, l)
		s.report(l)
		other.runs, other.wants = true, nil
	})
}
