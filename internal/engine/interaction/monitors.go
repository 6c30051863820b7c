// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// monitors binds handoffs and notifies of Java monitors.
type monitors struct {
	timeline *timeline.Timeline
	owners   *owners
	causes   *causes
	waits    *progress
	counters *Counters
}

// applyEntry applies the events of a thread that has to wait for a monitor.
func (m *monitors) applyEntry(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	switch {
	case ev.Kind == jvmthread.KindContendedEnter:
		m.contendedEnter(ev, closed)
	case closed.State == jvmthread.StateReentering: // of a virtual thread
		m.waitReturned(ev.Lock, ev.Time, m.waits.of(th), closed)
	default:
		m.contendedEntered(ev, closed)
	}
}

// contendedEnter records the owner that the JVM named. If the blocking thread was the owner, it has released the lock since.
func (m *monitors) contendedEnter(ev *jvmthread.Event, closed *jvmthread.Interval) {
	l := m.owners.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	l.blocked.Enter()
	if l.owner == ev.Thread {
		m.owners.released(l, closed, l.othersBlocked(1), jvmthread.HoldInferred)
	}
	switch {
	case ev.Peer == jvmthread.NoThread && l.owner != jvmthread.NoThread && l.othersBlocked(1) == 0:
		m.owners.presume(l, ev.Time)
	case ev.Peer != jvmthread.NoThread && !m.owners.getting(ev.Peer, ev.Lock):
		m.owners.own(l, ev.Peer, ev.Time, l.othersBlocked(1))
	}
}

func (m *monitors) contendedEntered(ev *jvmthread.Event, closed *jvmthread.Interval) {
	l := m.owners.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	if closed.State == jvmthread.StateBlocked || closed.State == jvmthread.StateDeadlocked {
		var bound bool
		if ev.Peer != jvmthread.NoThread {
			bound = m.handoffFrom(l, ev, closed)
		} else {
			bound = m.handoff(l, closed, closed.Began(), ev.Time)
		}
		if !bound {
			m.counters.HandoffsUnbound++
		}
	}
	m.owners.own(l, ev.Thread, ev.Time, gotIt|waitedFor)
}

// handoff binds the interval that ended at the given time, because its thread got the lock, to the previous holder.
func (m *monitors) handoff(l *lock, to *jvmthread.Interval, since, at jvmthread.Time) bool {
	return m.causes.bind(m.owners.previous(l, to, since, at), jvmthread.InteractionHandoff, to, at)
}

// handoffFrom binds the interval that ended because its thread got the lock to the previous owner, which the event names. Some sources
// record only effects and name the thread that caused each: a flight recording names the previous owner, the notifier and the starting
// thread. The thread is then exact; the time of its action is taken as the time when it last ran.
func (m *monitors) handoffFrom(l *lock, ev *jvmthread.Event, to *jvmthread.Interval) bool {
	if l.owner != ev.Peer {
		m.owners.own(l, ev.Peer, max(l.lastKnown(), to.Began()), 0)
	}
	return m.causes.bind(lastRun(m.timeline, ev.Peer, ev.Time), jvmthread.InteractionHandoff, to, ev.Time)
}
