// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A lock of java.util.concurrent reports less than a monitor: its owner when a thread parks, and which thread unparked which. So who unparks
// a waiter has just released the lock, and the waiter gets it when its park returns, unless it parks again at once: then another thread was
// faster.

// sharer is a thread that holds one of several permits or objects of a pool.
type sharer struct {
	thread jvmthread.ThreadID
	since  jvmthread.Time // if unsure, when the next thread began to wait
	unsure bool           // for a time no thread waited, so it may have returned what it held unseen
}

// maxSharers bounds the sharers of one lock; the oldest ones are forgotten.
const maxSharers = 256

// maxShares bounds the locks of which one thread is remembered as a sharer, in the same way.
const maxShares = 8

// park records that a thread waits for a lock, a permit or an object of a pool, and the owner that the JVM named. A thread without a task
// holds none.
func (b *Binder) park(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	wait := th.Open().Wait
	if wait.Idle() {
		b.dropShares(th)
	}
	if !wait.Contended() {
		return
	}
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	l.unshare(ev.Thread)
	l.blocked.Enter()
	if l.blocked.Now == 1 {
		for i := range l.sharers {
			l.sharers[i].since, l.sharers[i].unsure = ev.Time, true
		}
	}
	if l.owner == ev.Thread {
		if l.since == closed.Start {
			l.owner = jvmthread.NoThread // it did not get the lock
		} else {
			b.released(l, closed, l.othersBlocked(1), jvmthread.HoldInferred)
		}
	}
	switch {
	case ev.Peer != jvmthread.NoThread && ev.Peer != ev.Thread:
		b.own(l, ev.Peer, ev.Time, l.othersBlocked(1))
	case ev.Peer == jvmthread.NoThread && l.owner != jvmthread.NoThread && l.othersBlocked(1) == 0:
		b.endHold(l, l.seen, jvmthread.HoldInferred) // no thread waited since, and the lock has no owner, or a recording names none
		l.owner, l.release = jvmthread.NoThread, cause{}
	}
}

// dropShares forgets which permits and objects a thread holds.
func (b *Binder) dropShares(th *timeline.Thread) {
	me := b.waiting(th)
	for _, l := range me.shares {
		l.unshare(me.thread)
	}
	me.shares = me.shares[:0]
}

// share records that a thread got a permit or an object.
func (b *Binder) share(l *lock, th *timeline.Thread, at jvmthread.Time) {
	me := b.waiting(th)
	l.unshare(me.thread)
	if len(l.sharers) == maxSharers {
		l.sharers = slices.Delete(l.sharers, 0, 1)
	}
	l.sharers = append(l.sharers, sharer{thread: me.thread, since: at})
	if slices.Contains(me.shares, l) {
		return
	}
	if len(me.shares) == maxShares {
		me.shares[0].unshare(me.thread)
		me.shares = slices.Delete(me.shares, 0, 1)
	}
	me.shares = append(me.shares, l)
}

// unpark records a release: the thread unparks one that waits for a lock.
func (b *Binder) unpark(ev *jvmthread.Event, th *timeline.Thread) {
	target := b.timeline.Thread(ev.Peer)
	if target == nil || ev.Peer == ev.Thread {
		return
	}
	open := target.Open()
	if !open.Wait.Contended() || open.State != jvmthread.StateParked && open.State != jvmthread.StateDeadlocked {
		return
	}
	b.releases(ev, th, open)
}

// releases records that the thread of an event returned what another one waits for.
func (b *Binder) releases(ev *jvmthread.Event, th *timeline.Thread, open *jvmthread.Interval) {
	l := b.find(open.Lock)
	if l == nil || !open.Wait.Contended() {
		return
	}
	if open.Wait != jvmthread.WaitLock {
		b.endShare(l, ev, th, open)
		return
	}
	if l.owner != ev.Thread { // the owner is only known from when a thread began to wait
		b.own(l, ev.Thread, max(l.lastKnown(), open.Began()), 0)
	}
	b.endHold(l, ev.Time, 0)
	l.owner, l.release = jvmthread.NoThread, here(ev, th)
}

// endShare ends the hold of the thread that returned a permit or an object. If it was not seen to get one, it has held one while the other
// thread waited, as far as it was not itself idle or waiting for one.
func (b *Binder) endShare(l *lock, ev *jvmthread.Event, th *timeline.Thread, wait *jvmthread.Interval) {
	h := jvmthread.Hold{
		Start: max(wait.Began(), b.waiting(th).began), End: ev.Time, Lock: l.id, Thread: ev.Thread, Marks: jvmthread.HoldShared | jvmthread.HoldSinceBefore | jvmthread.HoldInferred,
	}
	if s, ok := l.unshare(ev.Thread); ok {
		h.Start = s.since
		if !s.unsure {
			h.Marks = jvmthread.HoldShared
		}
	}
	if h.End > h.Start {
		b.holds = append(b.holds, h)
	}
	b.waiting(th).began = ev.Time // since when it has held what it returns next is not known; holds of a thread do not overlap
}

// unshare forgets a sharer and returns it.
func (l *lock) unshare(id jvmthread.ThreadID) (s sharer, ok bool) {
	at := slices.IndexFunc(l.sharers, func(s sharer) bool { return s.thread == id })
	if at < 0 {
		return sharer{}, false
	}
	s = l.sharers[at]
	l.sharers = slices.Delete(l.sharers, at, at+1)
	return s, true
}

// got records that a thread no longer waits for a lock, and binds the handoff from the thread that unparked it, if the cause is known, else
// from the previous owner. It returns false if neither is known.
func (b *Binder) got(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval, c cause) (bound bool) {
	l := b.find(closed.Lock)
	if l == nil {
		return b.bind(c, jvmthread.InteractionHandoff, closed, ev.Time)
	}
	l.touched = ev.Time
	if c.known() {
		bound = b.bind(c, jvmthread.InteractionHandoff, closed, ev.Time)
	} else if closed.Wait == jvmthread.WaitLock {
		bound = b.inferHandoff(l, closed, ev.Time)
	}
	switch {
	case closed.Wait == jvmthread.WaitLock:
		b.own(l, ev.Thread, ev.Time, gotIt|waitedFor)
	case bound:
		b.share(l, th, ev.Time)
	}
	return bound
}

// inferHandoff binds a park to the previous owner of its lock: nothing else is known to have ended it.
func (b *Binder) inferHandoff(l *lock, to *jvmthread.Interval, at jvmthread.Time) bool {
	n := len(b.bound)
	if !b.handoff(l, to, to.Began(), at) {
		return false
	}
	b.bound[n].Confidence = max(b.bound[n].Confidence, jvmthread.ConfidenceInferred)
	return true
}

// shared appends the holds of the sharers so far, if they are sure: a return is seen only while a thread waits.
func (l *lock) shared(at jvmthread.Time, holds []jvmthread.Hold) []jvmthread.Hold {
	if l.blocked.Now == 0 {
		at = min(at, l.empty)
	}
	for _, s := range l.sharers {
		if at > s.since && !s.unsure {
			holds = append(holds, jvmthread.Hold{
				Start: s.since, End: at, Lock: l.id, Thread: s.thread, Marks: jvmthread.HoldShared | jvmthread.HoldOpen | jvmthread.HoldSoFar,
			})
		}
	}
	return holds
}
