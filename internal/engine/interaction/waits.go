// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// waiting is the progress of a thread through a wait.
type waiting struct {
	thread   jvmthread.ThreadID
	lock     *lock            // the thread is in its wait set; nil: in none
	home     jvmthread.LockID // in whose wait set it was last
	notified jvmthread.Time   // when the thread was notified
	back     bool             // the thread was notified and is reentering
	shares   []*lock          // of which the thread held a permit or an object when it was last seen to get one
	began    jvmthread.Time   // end of its last wait for a task, a permit or an object of a pool
	gaveUp   jvmthread.LockID // for which it waited last, until its timeout
	next     awaited
}

// progress is that of all threads, by slot.
type progress struct{ threads []waiting }

// of returns the progress of a thread. It is valid until the next call.
func (p *progress) of(th *timeline.Thread) *waiting {
	slot := th.Slot()
	for slot >= len(p.threads) {
		p.threads = append(p.threads, waiting{})
	}
	w := &p.threads[slot]
	if id := th.Open().Thread; w.thread != id { // the slot was used by a thread that is forgotten
		*w = waiting{thread: id}
	}
	return w
}

// applyWait applies the events of Object.wait, Thread.join and notify.
func (m *monitors) applyWait(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart:
		m.wait(ev, m.waits.of(th), closed, th.Open().Wait)
	case jvmthread.KindWaited:
		m.waited(ev, m.waits.of(th), closed)
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		m.waitReturned(ev.Lock, ev.Time, m.waits.of(th), closed)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		m.notify(ev.Lock, here(ev, th), ev.Kind == jvmthread.KindNotifyAll, m.waits.of(th))
	}
}

// wait puts the thread into the wait set; the wait releases the lock.
func (m *monitors) wait(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval, wait jvmthread.Wait) {
	l := m.owners.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	if me.lock != nil {
		me.lock.remove(ev.Thread)
	}
	m.owners.released(l, closed, l.othersBlocked(0), 0)
	l.seen = ev.Time
	l.waiters = append(l.waiters, waiter{thread: ev.Thread, since: ev.Time})
	me.lock, me.home = l, l.id
	m.poolWait(l, wait, me, closed)
}

// waited takes the thread from the wait set and binds what woke it: the end of the joined thread, a notify or an interrupt. If the thread
// timed out, the notify bound to it went to the next waiter.
func (m *monitors) waited(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval) {
	l := me.lock
	if l == nil {
		return // the wait began before history does
	}
	me.lock = nil
	l.touched = ev.Time
	w := l.remove(ev.Thread)
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		if w.notified.known() && !w.all {
			l.markAgain(w.notified)
		}
		return
	}
	if closed.State == jvmthread.StateJoining {
		if th := m.timeline.Thread(closed.Peer); th != nil && th.Dead() {
			dead := th.Open() // what it ended in is before it: it ran, unless something was missed
			c := cause{from: jvmthread.IntervalRef{Thread: closed.Peer, Seq: dead.Seq - 1}, time: dead.Start}
			m.causes.bind(c, jvmthread.InteractionJoin, closed, ev.Time)
			return
		}
		if ev.Peer != jvmthread.NoThread {
			m.causes.bind(lastRun(m.timeline, ev.Peer, ev.Time), jvmthread.InteractionJoin, closed, ev.Time)
			return
		}
	}
	if ev.Peer != jvmthread.NoThread {
		w = m.notifiedBy(l, ev.Peer, ev.Time, w)
	}
	if !w.notified.known() {
		if _, ok := m.causes.interrupts[ev.Thread]; !ok && ev.Flags&jvmthread.FlagLateNotify != 0 && len(l.woken) < maxWoken {
			l.woken = append(l.woken, *closed)
		} else {
			m.causes.interrupted(ev.Thread, closed) // HotSpot has no spurious wake-ups
		}
		return
	}
	me.notified, me.back = w.notified.time, true
	kind := jvmthread.InteractionNotify
	if w.all {
		kind = jvmthread.InteractionNotifyAll
	}
	m.causes.bind(w.notified, kind, closed, ev.Time)
}

// waitReturned binds the handoff of the monitor that the thread owns again. After a notify, the notifier held the monitor, or the thread that
// got it from the notifier. After a timeout the monitor may have been free; if not, there was a contended entry.
func (m *monitors) waitReturned(id jvmthread.LockID, at jvmthread.Time, me *waiting, closed *jvmthread.Interval) {
	notified, ok := me.notified, me.back
	me.back = false
	l := m.owners.lock(id, at)
	if l == nil {
		return
	}
	how := gotIt
	if ok && closed.State == jvmthread.StateReentering && l.seen >= notified {
		how |= waitedFor
		m.handoff(l, closed, notified, at)
	}
	if l.pool.is {
		me.began = at
		if ok {
			me.share(l, at)
		}
	}
	m.owners.own(l, me.thread, at, how)
}
