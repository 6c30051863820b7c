// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// lock is what is known of one monitor. JVMTI tells of contended entries only, so the owner is the last one that showed itself: by
// entering after having been blocked, by being named as owner by another that blocks, or by calling wait or notify, which only an owner can.
type lock struct {
	id      jvmthread.LockID
	owner   jvmthread.ThreadID
	since   jvmthread.Time // when the owner got it, or was first seen to own it
	seen    jvmthread.Time // when the owner last showed itself
	touched jvmthread.Time
	blocked Crowd // threads between contendedEnter and contendedEntered; the peak is since the last cut
	marks   jvmthread.HoldMarks
	unheard jvmthread.Time // of the last notify that found nobody waiting, until a wait timed out after it or another notify was heard
	heard   jvmthread.Time // of the last notify that woke somebody
	release cause          // by whom, when it is known that there is no owner; else zero
	waiters []waiter
	woken   []jvmthread.Interval // waits that nothing explains yet; see jvmthread.FlagLateNotify
}

// waiter is a thread in the wait set, in the order of its wait calls, which is the order of HotSpot's wait set.
type waiter struct {
	thread   jvmthread.ThreadID
	since    jvmthread.Time
	notified cause // zero: not yet
	all      bool  // by notifyAll
	sure     jvmthread.Confidence
}

// find returns what is known of a lock, nil if nothing is.
func (b *Binder) find(id jvmthread.LockID) *lock {
	hash := id.Hash ^ uint32(id.Class)
	if l := b.recent.Get(hash, id); l != nil {
		return l
	}
	l := b.locks[id]
	b.recent.Put(hash, id, l)
	return l
}

// lock returns a lock that somebody speaks of, a new one if nothing was known of it and there is room.
func (b *Binder) lock(id jvmthread.LockID, at jvmthread.Time) *lock {
	l := b.find(id)
	if l == nil {
		if id.IsZero() || len(b.locks) >= b.maxLocks {
			b.counters.LocksRefused++
			return nil
		}
		l = &lock{id: id}
		b.locks[id] = l
	}
	l.touched = at
	return l
}

// how says what is known about a change of owner.
type how uint8

const (
	gotIt     how = 1 << iota // the new owner has just got the lock; else it was only seen to own it
	waitedFor                 // somebody waited for the lock until then: so the old owner held it until it could be had
)

// own notes that a thread showed itself as owner. If nobody waited meanwhile, the owner before it is only known to have held the lock until
// it was last seen, even if it is the same thread: it may have released the lock and taken it again.
func (b *Binder) own(l *lock, id jvmthread.ThreadID, at jvmthread.Time, h how) {
	if l.owner != id || h != waitedFor {
		end := l.seen
		if l.owner != id && h&waitedFor != 0 && l.owner != jvmthread.NoThread {
			end = b.releaseBy(l.owner, at).time
		}
		b.endHold(l, end, jvmthread.HoldInferred)
		l.since, l.marks = at, 0
		if h&gotIt == 0 {
			l.marks = jvmthread.HoldSinceBefore
		}
	}
	l.owner, l.seen, l.release = id, at, cause{}
}

// endHold notes that the owner, if there is one, does not own the lock any more.
func (b *Binder) endHold(l *lock, at jvmthread.Time, marks jvmthread.HoldMarks) {
	at = max(at, l.seen) // it was seen to own the lock until then
	if l.owner != jvmthread.NoThread && at > l.since {
		b.holds = append(b.holds, jvmthread.Hold{Start: l.since, End: at, Lock: l.id, Thread: l.owner, Marks: l.marks | marks})
	}
}

// contendedEnter notes the owner that the JVM named. If the blocking thread itself was the owner before, it has released since.
func (b *Binder) contendedEnter(ev *jvmthread.Event, closed *jvmthread.Interval) {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	l.blocked.Enter()
	if l.owner == ev.Thread {
		b.released(l, closed, l.othersBlocked(1), jvmthread.HoldInferred)
	}
	if ev.Peer != jvmthread.NoThread && !b.getting(ev.Peer, ev.Lock) {
		b.own(l, ev.Peer, ev.Time, l.othersBlocked(1))
	}
}

// othersBlocked tells whether more than n threads are blocked on the lock.
func (l *lock) othersBlocked(n int32) how {
	if l.blocked.Now > n {
		return waitedFor
	}
	return 0
}

// getting reports whether a thread that owns a lock has not said so yet: it was blocked and its contendedEntered or waitReturned is
// still to come. Until then the holder before it is the one to remember.
func (b *Binder) getting(id jvmthread.ThreadID, lock jvmthread.LockID) bool {
	th := b.timeline.Thread(id)
	if th == nil {
		return false
	}
	open := th.Open()
	switch open.State { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateDeadlocked:
		return open.Lock == lock
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateJoining, jvmthread.StateSleeping, jvmthread.StateParked,
		jvmthread.StateSuspended, jvmthread.StateDead:
	}
	return false
}

// released notes that the owner gave the lock up at the end of the interval.
func (b *Binder) released(l *lock, iv *jvmthread.Interval, h how, marks jvmthread.HoldMarks) {
	switch {
	case l.owner != iv.Thread:
	case h&waitedFor == 0: // it may have released the lock before, and taken it again
		b.endHold(l, l.seen, jvmthread.HoldInferred)
	default:
		b.endHold(l, iv.End, marks)
	}
	l.owner = jvmthread.NoThread
	l.release = cause{from: jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, time: iv.End}
}

func (b *Binder) contendedEntered(ev *jvmthread.Event, closed *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return out
	}
	if closed.State == jvmthread.StateBlocked || closed.State == jvmthread.StateDeadlocked {
		n := len(out)
		if ev.Peer != jvmthread.NoThread {
			out = b.handoffFrom(l, ev, closed, out)
		} else {
			out = b.handoff(l, closed, closed.Start, ev.Time, out)
		}
		if len(out) == n {
			b.counters.HandoffsUnbound++
		}
	}
	b.own(l, ev.Thread, ev.Time, gotIt|waitedFor)
	return out
}

// handoff binds the interval that ends at a given time, since its thread got the lock, to the holder before it. The binding is exact
// if that holder was seen to hold the lock while the thread was already waiting for it (since); else it is inferred. It is ambiguous if
// the holder did not run since it was seen, so that another must have come and gone.
func (b *Binder) handoff(l *lock, to *jvmthread.Interval, since, at jvmthread.Time, out []jvmthread.Interaction) []jvmthread.Interaction {
	c, evidence := l.release, l.release.time
	if l.owner != jvmthread.NoThread {
		c, evidence = b.releaseBy(l.owner, at), l.seen
	}
	n := len(out)
	if out = bind(c, jvmthread.InteractionHandoff, to, at, out); len(out) == n {
		return out
	}
	switch {
	case c.time < evidence:
		out[n].Confidence = jvmthread.ConfidenceAmbiguous
	case evidence < since:
		out[n].Confidence = jvmthread.ConfidenceInferred
	}
	return out
}

// releaseBy finds where a thread released a lock that another thread got at the given time: a thread releases only while it runs, so it
// was in the interval in which it runs now, or in the last one in which it did.
func (b *Binder) releaseBy(id jvmthread.ThreadID, at jvmthread.Time) cause {
	th := b.timeline.Thread(id)
	if th == nil {
		return cause{}
	}
	open, last := th.Open(), th.LastRun()
	if open.State == jvmthread.StateRunnable && open.Start < at || open.State == jvmthread.StateUnknown || last.Seq == jvmthread.NoSeq {
		return cause{from: jvmthread.IntervalRef{Thread: id, Seq: open.Seq}, time: at}
	}
	return cause{from: jvmthread.IntervalRef{Thread: id, Seq: last.Seq}, time: min(last.End, at)}
}

// wait puts the thread into the wait set; the wait releases the lock.
func (b *Binder) wait(ev *jvmthread.Event, me *waiting, closed *jvmthread.Interval) {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	if me.lock != nil {
		me.lock.remove(ev.Thread)
	}
	b.released(l, closed, l.othersBlocked(0), 0)
	l.seen = ev.Time
	l.waiters = append(l.waiters, waiter{thread: ev.Thread, since: ev.Time})
	me.lock = l
}

// remove takes a thread from the wait set; the waiter is zero if it was not there.
func (l *lock) remove(id jvmthread.ThreadID) (w waiter) {
	for i := range l.waiters {
		if l.waiters[i].thread == id {
			w = l.waiters[i]
			l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
			return w
		}
	}
	return waiter{}
}

// notify marks the first waiter that is not notified yet, or all of them.
func (b *Binder) notify(ev *jvmthread.Event, th *timeline.Thread, out []jvmthread.Interaction) []jvmthread.Interaction {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return out
	}
	b.own(l, ev.Thread, ev.Time, l.othersBlocked(0))
	c := here(ev, th)
	all := ev.Kind == jvmthread.KindNotifyAll
	if b.mark(l, c, all) > 0 {
		l.heard, l.unheard = ev.Time, jvmthread.NoTime
		return out
	}
	l.unheard = ev.Time
	n := len(out)
	if out = l.bindLate(c, all, out); len(out) > n {
		return out
	}
	b.counters.NotifiesUnbound++
	return out
}

// mark gives the cause to the first waiter without one, or to all of them, and returns zero if there was none. A waiter that was interrupted
// before is passed over: most likely it has left the wait set, and not come to say so.
func (b *Binder) mark(l *lock, c cause, all bool) (n int) {
	first, leaving := -1, false
	for i := range l.waiters {
		if n == 2 && !all {
			break // which one is clear, and that it was not the only one
		}
		w := &l.waiters[i]
		if w.notified.from.Seq != jvmthread.NoSeq {
			continue
		}
		if i, ok := b.interrupts[w.thread]; ok && i.time >= w.since {
			leaving = true
			continue
		}
		n++
		switch {
		case all:
			w.notified, w.all, w.sure = c, true, jvmthread.ConfidenceExact
		case first < 0:
			first = i
		}
	}
	if first < 0 {
		return n
	}
	w := &l.waiters[first]
	w.notified, w.sure = c, jvmthread.ConfidenceExact
	switch {
	case leaving:
		w.sure = jvmthread.ConfidenceAmbiguous
	case n > 1:
		w.sure = jvmthread.ConfidenceFIFO
	}
	return n
}
