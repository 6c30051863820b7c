// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// lock is the state of one monitor. JVMTI reports only contended entries. So the owner is the thread that was last seen to own the lock: it
// entered after having been blocked, a blocking thread named it, or it called wait or notify, which only an owner can.
type lock struct {
	id      jvmthread.LockID
	owner   jvmthread.ThreadID
	since   jvmthread.Time // when the owner got it, or was first seen to own it
	seen    jvmthread.Time // when the owner was last seen to own it
	touched jvmthread.Time
	blocked Crowd          // threads between contendedEnter and contendedEntered; the peak is since the last cut
	empty   jvmthread.Time // since when no thread is blocked, if none is
	marks   jvmthread.HoldMarks
	release cause // if the lock is known to be free; else zero
	waiters []waiter
	sharers []sharer
	woken   []jvmthread.Interval // waits that nothing explains yet; see jvmthread.FlagLateNotify
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

// free ends the hold of an owner that ended at the given time.
func (b *Binder) free(l *lock, at jvmthread.Time) {
	end, _ := b.heldUntil(l, at)
	b.endHold(l, end, jvmthread.HoldInferred)
	l.owner, l.release = jvmthread.NoThread, b.releaseBy(l.owner, at)
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
	switch {
	case ev.Peer == jvmthread.NoThread && l.owner != jvmthread.NoThread && l.othersBlocked(1) == 0:
		b.presume(l, ev.Time)
	case ev.Peer != jvmthread.NoThread && !b.getting(ev.Peer, ev.Lock):
		b.own(l, ev.Peer, ev.Time, l.othersBlocked(1))
	}
}

// presume begins another hold by the last known owner: no thread was waiting, so it may have released the lock, or lost it to a thread
// that was not seen.
func (b *Binder) presume(l *lock, at jvmthread.Time) {
	b.endHold(l, l.seen, jvmthread.HoldInferred)
	l.since, l.marks = at, jvmthread.HoldSinceBefore
}

// unblocked records that a thread is no longer blocked on a lock.
func (b *Binder) unblocked(id jvmthread.LockID, at jvmthread.Time) {
	if l := b.find(id); l != nil {
		if l.blocked.Leave(); l.blocked.Now == 0 {
			l.empty = at
		}
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
	if th == nil || th.MayRun() {
		return false
	}
	open := th.Open()
	switch open.State { //exhaustive:enforce
	case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateWaiting, jvmthread.StateDeadlocked:
		return open.Lock == lock
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateJoining, jvmthread.StateSleeping, jvmthread.StateParked,
		jvmthread.StateSuspended, jvmthread.StateDead, jvmthread.StateQueued:
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

func (b *Binder) contendedEntered(ev *jvmthread.Event, closed *jvmthread.Interval) {
	l := b.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	if closed.State == jvmthread.StateBlocked || closed.State == jvmthread.StateDeadlocked {
		var bound bool
		if ev.Peer != jvmthread.NoThread {
			bound = b.handoffFrom(l, ev, closed)
		} else {
			bound = b.handoff(l, closed, closed.Began(), ev.Time)
		}
		if !bound {
			b.counters.HandoffsUnbound++
		}
	}
	b.own(l, ev.Thread, ev.Time, gotIt|waitedFor)
}

// handoff binds the interval that ended at the given time, because its thread got the lock, to the previous holder. The binding is exact if
// that holder was seen to hold the lock after the thread had begun to wait for it (since), else inferred. It is inferred, too, if the JVM did
// not name the owner when the thread was blocked: then contentions in between may be missing as well. It is ambiguous if the holder has not
// run since it was seen: then another thread must have held the lock in between.
func (b *Binder) handoff(l *lock, to *jvmthread.Interval, since, at jvmthread.Time) bool {
	c, evidence := l.release, l.release.time
	if l.owner != jvmthread.NoThread {
		c, evidence = b.releaseBy(l.owner, at), l.seen
	}
	switch {
	case c.time < evidence:
		c.sure = jvmthread.ConfidenceAmbiguous
	case evidence < since, to.State == jvmthread.StateBlocked && to.Peer == jvmthread.NoThread:
		c.sure = jvmthread.ConfidenceInferred
	}
	return b.bind(c, jvmthread.InteractionHandoff, to, at)
}

// handoffFrom binds the interval that ended because its thread got the lock to the previous owner, which the event names. Some sources
// record only effects and name the thread that caused each: a flight recording names the previous owner, the notifier and the starting
// thread. The thread is then exact; the time of its action is taken as the time when it last ran.
func (b *Binder) handoffFrom(l *lock, ev *jvmthread.Event, to *jvmthread.Interval) bool {
	if l.owner != ev.Peer {
		b.own(l, ev.Peer, max(l.lastKnown(), to.Began()), 0)
	}
	return b.bind(b.releaseBy(ev.Peer, ev.Time), jvmthread.InteractionHandoff, to, ev.Time)
}

// lastKnown returns the last time at which a thread was seen to own or release the lock. An owner named later got the lock no earlier.
func (l *lock) lastKnown() jvmthread.Time { return max(l.seen, l.release.time) }

// releaseBy finds where a thread released a lock that another thread got at the given time. A thread releases locks only while it runs: in
// its current interval if it is running, else in the last one in which it ran.
func (b *Binder) releaseBy(id jvmthread.ThreadID, at jvmthread.Time) cause {
	th := b.timeline.Thread(id)
	if th == nil {
		return cause{}
	}
	open, last := th.Open(), th.LastRun()
	if th.MayRun() && open.Start < at || open.State == jvmthread.StateUnknown || last.Seq == jvmthread.NoSeq {
		return cause{from: jvmthread.IntervalRef{Thread: id, Seq: open.Seq}, time: at}
	}
	return cause{from: jvmthread.IntervalRef{Thread: id, Seq: last.Seq}, time: min(last.End, at)}
}
