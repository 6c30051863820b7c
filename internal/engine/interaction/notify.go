// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// waiter is a thread in the wait set, in the order of its wait calls, which is the order of HotSpot's wait set.
type waiter struct {
	thread   jvmthread.ThreadID
	since    jvmthread.Time
	notified cause // zero: not yet
	all      bool  // by notifyAll
}

// remove takes a thread from the wait set. The result is zero if the thread was not in it.
func (l *lock) remove(id jvmthread.ThreadID) (w waiter) {
	for i := range l.waiters {
		if l.waiters[i].thread == id {
			w = l.waiters[i]
			l.waiters = slices.Delete(l.waiters, i, i+1)
			return w
		}
	}
	return waiter{}
}

// notify binds a notify to the first waiter that is not notified yet, a notifyAll to all of them.
func (m *monitors) notify(id jvmthread.LockID, c cause, all bool, me *waiting) {
	l := m.owners.lock(id, c.time)
	if l == nil {
		return
	}
	m.owners.own(l, c.from.Thread, c.time, l.othersBlocked(0))
	switch {
	case m.timeline.Returns(c.stack):
		m.gives(l, me, c.time)
	case l.pool.is:
		m.notifiedPool(l, me)
	}
	if !m.mark(l, c, all) && !m.bindLate(l, c, all) {
		m.counters.NotifiesUnbound++
	}
}

// mark sets the cause of the first waiter without one, or of all such waiters. It returns false if there is none. It passes over a waiter
// that was interrupted before: most likely it has left the wait set and not reported it yet.
func (m *monitors) mark(l *lock, c cause, all bool) (found bool) {
	var first *waiter
	sure := jvmthread.ConfidenceExact
	for i := range l.waiters {
		w := &l.waiters[i]
		if w.notified.known() {
			continue
		}
		if i, ok := m.causes.interrupts[w.thread]; ok && i.time >= w.since {
			sure = jvmthread.ConfidenceAmbiguous
			continue
		}
		if all {
			w.notified, w.all = c, true
		} else if first != nil { // it was not alone
			sure = max(sure, jvmthread.ConfidenceFIFO)
			break
		}
		first, found = w, true
	}
	if found && !all {
		first.notified = c
		first.notified.sure = sure
	}
	return found
}

// markAgain passes a notify that missed its waiter to the next thread that was waiting at the time. This is likely, but not certain.
func (l *lock) markAgain(c cause) {
	c.sure = jvmthread.ConfidenceAmbiguous
	for i := range l.waiters {
		if w := &l.waiters[i]; !w.notified.known() && w.since <= c.time {
			w.notified = c
			return
		}
	}
}

// maxWoken bounds the waits of one lock that are kept for a late notify.
const maxWoken = 64

// bindLate binds a notify to the first wait that ended before it without a visible cause, a notifyAll to all such waits. It returns false
// if there is none.
func (m *monitors) bindLate(l *lock, c cause, all bool) (bound bool) {
	kind, n := jvmthread.InteractionNotify, min(1, len(l.woken))
	if all {
		kind, n = jvmthread.InteractionNotifyAll, len(l.woken)
	}
	c.sure = jvmthread.ConfidenceAmbiguous
	for i := range n {
		iv := &l.woken[i]
		bound = m.causes.bind(c, kind, iv, iv.End) || bound
	}
	l.woken = slices.Delete(l.woken, 0, n)
	return bound
}

// notifiedBy returns the waiter with the notifier that an event names as its cause; see handoffFrom.
func (m *monitors) notifiedBy(l *lock, id jvmthread.ThreadID, at jvmthread.Time, w waiter) waiter {
	if w.notified.from.Thread != id {
		w.notified, w.all = lastRun(m.timeline, id, at), false
		if w.notified.known() && w.notified.time >= l.lastKnown() {
			m.owners.own(l, id, w.notified.time, l.othersBlocked(0)) // only an owner can notify
		}
	}
	w.notified.sure = jvmthread.ConfidenceExact
	return w
}
