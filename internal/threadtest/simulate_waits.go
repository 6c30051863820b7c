// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func (s *Simulation) wait(t *simThread, l *simLock) {
	timed := s.rng.IntN(3) == 0
	var arg int64
	if timed {
		arg = 100
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindWait, Lock: l.id, Arg: arg})
	t.runs = false
	t.nap++
	l.waits = append(l.waits, t)
	s.release(t, l)
	if nap := t.nap; timed {
		s.after(200, func() {
			if t.nap == nap && slices.Contains(l.waits, t) {
				s.timeout(t, l)
			}
		})
	}
}

// timeout takes the thread from the wait set; then it enters the monitor like anybody.
func (s *Simulation) timeout(t *simThread, l *simLock) {
	l.waits = slices.DeleteFunc(l.waits, func(w *simThread) bool { return w == t })
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: l.id, Flags: jvmthread.FlagTimedOut})
	returned := func() {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: l.id})
		t.runs = true
	}
	if l.owner == nil {
		l.owner = t
		t.held = append(t.held, l)
		returned()
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: l.id, Peer: l.owner.id})
	l.queue = append(l.queue, &queued{t, func(giver *simThread) {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: l.id})
		s.truth(jvmthread.InteractionHandoff, giver, t, l.id)
		returned()
	}})
}

// notify moves waiters to the queue; each says that it was woken when it has got the monitor.
func (s *Simulation) notify(t *simThread, l *simLock, all bool) {
	kind, ia := jvmthread.KindNotify, jvmthread.InteractionNotify
	if all {
		kind, ia = jvmthread.KindNotifyAll, jvmthread.InteractionNotifyAll
	}
	s.emit(t, jvmthread.Event{Kind: kind, Lock: l.id})
	for len(l.waits) > 0 {
		w := l.waits[0]
		l.waits = l.waits[1:]
		l.queue = append(l.queue, &queued{w, func(giver *simThread) {
			s.emit(w, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: l.id})
			s.truth(ia, t, w, l.id)
			s.emit(w, jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: l.id})
			s.truth(jvmthread.InteractionHandoff, giver, w, l.id)
			w.runs = true
		}})
		if !all {
			return
		}
	}
}

func (s *Simulation) sleep(t *simThread) {
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindSleepStart, Arg: 50})
	t.runs = false
	s.after(50, func() {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindSleepEnd})
		t.runs = true
	})
}

func (s *Simulation) start(t *simThread) {
	for _, n := range s.threads {
		if n.started {
			continue
		}
		n.started = true
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindStartCalled, Peer: n.id})
		s.after(30, func() {
			s.emit(n, jvmthread.Event{Kind: jvmthread.KindThreadStart})
			s.truth(jvmthread.InteractionStart, t, n, jvmthread.NoLock)
			n.runs = true
		})
		return
	}
}

// threadObject is the monitor of a Thread.
func threadObject(t *simThread) jvmthread.LockID {
	return jvmthread.LockID{Class: 100, Hash: 1000 + uint32(t.id)} //nolint:gosec // small
}

func (s *Simulation) join(t *simThread) {
	other := s.threads[s.rng.IntN(len(s.threads))]
	if other == t || !other.started || other.dead || s.joins(other, t) {
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindJoinStart, Peer: other.id, Lock: threadObject(other)})
	t.runs = false
	other.joiners = append(other.joiners, t)
}

// joins reports whether a waits for b to end, directly or not: then b had better not wait for a.
func (s *Simulation) joins(a, b *simThread) bool {
	for _, j := range b.joiners {
		if j == a || s.joins(a, j) {
			return true
		}
	}
	return false
}

func (s *Simulation) end(t *simThread) {
	for len(t.held) > 0 {
		s.release(t, t.held[len(t.held)-1])
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindThreadEnd})
	t.runs, t.dead = false, true
	for _, j := range t.joiners {
		s.after(30, func() {
			s.emit(j, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: threadObject(t)})
			s.truth(jvmthread.InteractionJoin, t, j, threadObject(t))
			s.emit(j, jvmthread.Event{Kind: jvmthread.KindJoinEnd, Peer: t.id, Lock: threadObject(t)})
			j.runs = true
		})
	}
}
