// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// lock is the state of one monitor. JVMTI reports only contended entries. So the owner is the thread that was last seen to own the lock: it
// entered after having been blocked, a blocking thread named it, or it called wait or notify, which only an owner can.
type lock struct {
	id      jvmthread.LockID
	owner   jvmthread.ThreadID
	since   jvmthread.Time // when the owner got it, or was first seen to own it
	seen    jvmthread.Time // when the owner was last seen to own it
	touched jvmthread.Time
	blocked Crowd // threads between contendedEnter and contendedEntered; the peak is since the last cut
	marks   jvmthread.HoldMarks
	unheard jvmthread.Time // of the last notify without a waiter, until a wait times out after it or another notify wakes a thread
	heard   jvmthread.Time // of the last notify that woke a thread
	release cause          // if the lock is known to be free; else zero
	waiters []waiter
	woken   []jvmthread.Interval // waits that nothing explains yet; see jvmthread.FlagLateNotify
}

// waiter is a thread in the wait set, in the order of its wait calls, which is the order of HotSpot's wait set.
type waiter struct {
	thread   jvmthread.ThreadID
	since    jvmthread.Time
	notified cause                // zero: not yet
	all      bool                 // by notifyAll
	sure     jvmthread.Confidence // of notified
}

// find returns a lock, or nil if it is unknown.
func (b *Binder) find(id jvmthread.LockID) *lock {
	hash := id.Hash ^ uint32(id.Class)
	if l := b.recent.Get(hash, id); l != nil {
		return l
	}
	l := b.locks[id]
	b.recent.Put(hash, id, l)
	return l
}

// lock returns the lock of an event, a new one if it is unknown and within the limit, else nil.
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

// how describes a change of owner.
type how uint8

const (
	gotIt     how = 1 << iota // the new owner has just got the lock; otherwise it was only seen to own it
	waitedFor                 // a thread was waiting for the lock, so the old owner held it until then
)

// own records that a thread was seen to own a lock. If no thread was waiting, the previous owner is only known to have held the lock until
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

// endHold ends the hold of the current owner, if any.
func (b *Binder) endHold(l *lock, at jvmthread.Time, marks jvmthread.HoldMarks) {
	at = max(at, l.seen)
	if l.owner != jvmthread.NoThread && at > l.since {
		b.holds = append(b.holds, jvmthread.Hold{Start: l.since, End: at, Lock: l.id, Thread: l.owner, Marks: l.marks | marks})
	}
}

// contendedEnter records the owner that the JVM named. If the blocking thread was the owner, it has released the lock since.
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

// othersBlocked returns waitedFor if more than n threads are blocked on the lock.
func (l *lock) othersBlocked(n int32) how {
	if l.blocked.Now > n {
		return waitedFor
	}
	return 0
}

// getting reports whether a thread that already owns a lock still has to report it by contendedEntered or waitReturned. Until then the
// previous holder is kept.
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

// released records that the owner released the lock at the end of the interval.
func (b *Binder) released(l *lock, iv *jvmthread.Interval, h how, marks jvmthread.HoldMarks) {
	switch {
	case l.owner != iv.Thread:
	case h&waitedFor == 0: // it may have released the lock earlier, and taken it again
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

// handoff binds the interval that ended at the given time, because its thread got the lock, to the previous holder. The binding is exact if
// that holder was seen to hold the lock after the thread had begun to wait for it (since), else inferred. It is ambiguous if the holder has
// not run since it was seen: then another thread must have held the lock in between.
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

// releaseBy finds where a thread released a lock that another thread got at the given time. A thread releases locks only while it runs: in
// its current interval if it is running, else in the last one in which it ran.
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

// remove takes a thread from the wait set. The result is zero if the thread was not in it.
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

// notify binds a notify to the first waiter that is not notified yet, a notifyAll to all of them.
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

// mark sets the cause of the first waiter without one, or of all such waiters. It returns 0 if there is none. It passes over a waiter that was
// interrupted before: most likely it has left the wait set and not reported it yet.
func (b *Binder) mark(l *lock, c cause, all bool) (n int) {
	first, leaving := -1, false
	for i := range l.waiters {
		if n == 2 && !all {
			break // enough to know that the first one was not alone
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
