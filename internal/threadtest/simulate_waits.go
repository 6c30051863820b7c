// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

func (s *Simulation) wait(t *simThread, l *simLock) {
	timed := s.rng.IntN(3) == 0 || len(t.held) > 1 || t.id == 1 // so the others can continue
	var arg int64
	if timed {
		arg = 100
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindWait, Lock: l.id, Arg: arg})
	s.state(t, jvmthread.StateWaiting)
	t.runs, t.waitsOn = false, l
	t.nap++
	l.waits = append(l.waits, t)
	s.release(t, l)
	if nap := t.nap; timed {
		s.after(200, func() {
			if t.nap == nap && slices.Contains(l.waits, t) && !t.interrupted {
				s.leave(t, l, jvmthread.FlagTimedOut, 0)
			}
		})
	}
}

// leave removes the thread from the wait set without a notify. It then enters the monitor like any other thread.
func (s *Simulation) leave(t *simThread, l *simLock, waited, returned jvmthread.Flags) {
	l.waits = slices.DeleteFunc(l.waits, func(w *simThread) bool { return w == t })
	t.waitsOn = nil
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: l.id, Flags: waited})
	s.state(t, jvmthread.StateReentering)
	back := func() {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: l.id, Flags: returned})
		s.state(t, jvmthread.StateRunnable)
		t.runs, t.interrupted = true, false
	}
	if l.owner == nil {
		s.grant(t, l)
		back()
		s.report(l)
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: l.id, Peer: l.owner.id})
	s.state(t, jvmthread.StateBlocked)
	l.queue = append(l.queue, &queued{t, func(giver *simThread) {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: l.id})
		s.state(t, jvmthread.StateReentering)
		s.report(l)
		s.truth(jvmthread.InteractionHandoff, giver, t, l.id)
		back()
	}})
}

// notify moves waiters to the queue. Each reports its wake-up once it owns the monitor.
func (s *Simulation) notify(t *simThread, l *simLock, all bool) {
	kind, ia := jvmthread.KindNotify, jvmthread.InteractionNotify
	if all {
		kind, ia = jvmthread.KindNotifyAll, jvmthread.InteractionNotifyAll
	}
	s.emit(t, jvmthread.Event{Kind: kind, Lock: l.id})
	for len(l.waits) > 0 {
		w := l.waits[0]
		l.waits = l.waits[1:]
		w.waitsOn = nil
		l.queue = append(l.queue, &queued{w, func(giver *simThread) {
			s.emit(w, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: l.id})
			s.state(w, jvmthread.StateReentering)
			s.truth(ia, t, w, l.id)
			s.emit(w, jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: l.id})
			s.state(w, jvmthread.StateRunnable)
			s.report(l)
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
	s.state(t, jvmthread.StateSleeping)
	t.runs, t.sleeps = false, true
	t.nap++
	nap := t.nap
	s.after(50, func() {
		if t.sleeps && t.nap == nap && !t.interrupted {
			s.wake(t, 0)
		}
	})
}

func (s *Simulation) wake(t *simThread, flags jvmthread.Flags) {
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindSleepEnd, Flags: flags})
	s.state(t, jvmthread.StateRunnable)
	t.runs, t.sleeps, t.interrupted = true, false, false
}

// park returns at once if there is a permit.
func (s *Simulation) park(t *simThread) {
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindPark})
	s.state(t, jvmthread.StateParked)
	if t.permit {
		t.permit = false
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindUnparked})
		s.state(t, jvmthread.StateRunnable)
		return
	}
	t.runs, t.parked = false, true
}

func (s *Simulation) unpark(t *simThread) {
	other := s.threads[s.rng.IntN(len(s.threads))]
	for _, p := range s.threads {
		if p.parked { // prefer a parked thread
			other = p
		}
	}
	if !other.started || other.dead || other == t || other.wants != nil {
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindUnpark, Peer: other.id})
	if !other.parked {
		other.permit = other.permit || !other.waking // one permit, and a woken thread takes it
		return
	}
	other.parked, other.waking = false, true
	s.after(30, func() {
		other.waking = false
		s.emit(other, jvmthread.Event{Kind: jvmthread.KindUnparked})
		s.state(other, jvmthread.StateRunnable)
		s.truth(jvmthread.InteractionUnpark, t, other, jvmthread.NoLock)
		other.runs = true
	})
}

// interrupt ends the wait or sleep of another thread.
func (s *Simulation) interrupt(t *simThread) {
	for _, o := range s.threads {
		if o.interrupted || o.waitsOn == nil && !o.sleeps || s.rng.IntN(3) > 0 {
			continue
		}
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindInterruptCalled, Peer: o.id})
		o.interrupted = true
		l := o.waitsOn
		if l != nil { // no notify may choose it any more
			l.waits = slices.DeleteFunc(l.waits, func(w *simThread) bool { return w == o })
		}
		s.after(20, func() {
			if l == nil {
				s.wake(o, jvmthread.FlagInterrupted)
				s.truth(jvmthread.InteractionInterrupt, t, o, jvmthread.NoLock)
				return
			}
			s.leaveInterrupted(t, o, l)
		})
		return
	}
}

// leaveInterrupted ends a wait by an interrupt. Only the return of the wait shows the interrupt, but its effect is the end of the waiting
// interval.
func (s *Simulation) leaveInterrupted(by, t *simThread, l *simLock) {
	before := len(s.Steps[t.id])
	s.leave(t, l, 0, jvmthread.FlagInterrupted)
	left := s.Steps[t.id][before].At
	s.Truth = append(s.Truth, Truth{jvmthread.InteractionInterrupt, by.id, t.id, left, l.id})
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
			s.state(n, jvmthread.StateRunnable)
			s.truth(jvmthread.InteractionStart, t, n, jvmthread.NoLock)
			n.runs = true
		})
		return
	}
}

// threadObject is the monitor of a Thread.
func threadObject(t *simThread) jvmthread.LockID {
	return jvmthread.LockID{Class: 100, Hash: 1000 + uint32(t.id)}
}

func (s *Simulation) join(t *simThread) {
	other := s.threads[s.rng.IntN(len(s.threads))]
	if other == t || !other.started || other.dead || s.joins(other, t) {
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindJoinStart, Peer: other.id, Lock: threadObject(other)})
	s.state(t, jvmthread.StateJoining)
	t.runs = false
	other.joiners = append(other.joiners, t)
}

// joins reports whether a waits for b to end, directly or indirectly. If so, b must not wait for a.
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
		s.tick()
		s.release(t, t.held[len(t.held)-1])
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindThreadEnd})
	s.state(t, jvmthread.StateDead)
	t.runs, t.dead = false, true
	for _, j := range t.joiners {
		s.after(30, func() {
			s.emit(j, jvmthread.Event{Kind: jvmthread.KindWaited, Lock: threadObject(t)})
			s.state(j, jvmthread.StateReentering)
			s.truth(jvmthread.InteractionJoin, t, j, threadObject(t))
			s.emit(j, jvmthread.Event{Kind: jvmthread.KindJoinEnd, Peer: t.id, Lock: threadObject(t)})
			s.state(j, jvmthread.StateRunnable)
			j.runs = true
		})
	}
}
