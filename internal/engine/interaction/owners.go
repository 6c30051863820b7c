// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/recent"
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
	blocked Crowd          // threads between contendedEnter and contendedEntered; the peak is since the last cut
	empty   jvmthread.Time // since when no thread is blocked, if none is
	marks   jvmthread.HoldMarks
	release cause // if the lock is known to be free; else zero
	waiters []waiter
	sharers []sharer
	pool    pool
	woken   []jvmthread.Interval // waits that nothing explains yet; see jvmthread.FlagLateNotify
}

// owners is the ledger of who owns which lock, and of the holds that ended.
type owners struct {
	timeline *timeline.Timeline
	locks    map[jvmthread.LockID]*lock
	recent   recent.Cache[jvmthread.LockID, *lock]
	holds    []jvmthread.Hold // ended, not taken yet
	maxLocks int
	counters *Counters
}

// find returns a lock, or nil if it is unknown.
func (o *owners) find(id jvmthread.LockID) *lock {
	hash := id.Hash ^ uint32(id.Class)
	if l := o.recent.Get(hash, id); l != nil {
		return l
	}
	l := o.locks[id]
	o.recent.Put(hash, id, l)
	return l
}

// lock returns the lock of an event, a new one if it is unknown and within the limit. It returns nil beyond the limit, and if the event has no
// lock, as those of snapshots may.
func (o *owners) lock(id jvmthread.LockID, at jvmthread.Time) *lock {
	if id.IsZero() {
		return nil
	}
	l := o.find(id)
	if l == nil {
		if len(o.locks) >= o.maxLocks {
			o.counters.LocksRefused++
			return nil
		}
		l = &lock{id: id}
		o.locks[id] = l
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
func (o *owners) own(l *lock, id jvmthread.ThreadID, at jvmthread.Time, h how) {
	if l.owner != id || h != waitedFor {
		end := l.seen
		if l.owner != id && h&waitedFor != 0 && l.owner != jvmthread.NoThread {
			end = lastRun(o.timeline, l.owner, at).time
		}
		o.endHold(l, end, jvmthread.HoldInferred)
		l.since, l.marks = at, 0
		if h&gotIt == 0 {
			l.marks = jvmthread.HoldSinceBefore
		}
	}
	l.owner, l.seen, l.release = id, at, cause{}
}

// endHold ends the hold of the current owner, if any.
func (o *owners) endHold(l *lock, at jvmthread.Time, marks jvmthread.HoldMarks) {
	at = max(at, l.seen)
	if l.owner != jvmthread.NoThread && at > l.since && !l.pool.is {
		o.holds = append(o.holds, jvmthread.Hold{Start: l.since, End: at, Lock: l.id, Thread: l.owner, Marks: l.marks | marks})
	}
}

// free ends the hold of an owner that ended at the given time.
func (o *owners) free(l *lock, at jvmthread.Time) {
	end, _ := o.heldUntil(l, at)
	o.endHold(l, end, jvmthread.HoldInferred)
	l.owner, l.release = jvmthread.NoThread, lastRun(o.timeline, l.owner, at)
}

// presume begins another hold by the last known owner: no thread was waiting, so it may have released the lock, or lost it to a thread
// that was not seen.
func (o *owners) presume(l *lock, at jvmthread.Time) {
	o.endHold(l, l.seen, jvmthread.HoldInferred)
	l.since, l.marks = at, jvmthread.HoldSinceBefore
}

// unblocked records that a thread is no longer blocked on a lock.
func (o *owners) unblocked(id jvmthread.LockID, at jvmthread.Time) {
	if l := o.find(id); l != nil {
		if l.blocked.Leave(); l.blocked.Now == 0 {
			l.empty = at
		}
	}
}

// heldStill records that the owner of a lock held it until a thread was lost from sight that waited for it.
func (o *owners) heldStill(id jvmthread.LockID, at jvmthread.Time) {
	l := o.find(id)
	if l == nil || l.owner == jvmthread.NoThread {
		return
	}
	if _, ended := o.ended(l.owner); !ended {
		l.seen = max(l.seen, at)
	}
}

// waitedForLock reports whether a thread waited for a lock. It may have stopped to wait unseen: an event contradicted its state, which has been
// unknown since.
func waitedForLock(closed *jvmthread.Interval) bool {
	return closed.Wait.Contended() ||
		closed.State == jvmthread.StateUnknown && (closed.Was == jvmthread.StateBlocked || closed.Was == jvmthread.StateParked)
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
func (o *owners) getting(id jvmthread.ThreadID, lock jvmthread.LockID) bool {
	th := o.timeline.Thread(id)
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
func (o *owners) released(l *lock, iv *jvmthread.Interval, h how, marks jvmthread.HoldMarks) {
	switch {
	case l.owner != iv.Thread:
	case h&waitedFor == 0: // it may have released the lock earlier, and taken it again
		o.endHold(l, l.seen, jvmthread.HoldInferred)
	default:
		o.endHold(l, iv.End, marks)
	}
	l.owner = jvmthread.NoThread
	l.release = cause{from: jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, time: iv.End}
}

// previous returns the release by the previous holder of a lock that a thread got at the given time, at the end of an interval. It is exact if
// that holder was seen to hold the lock after the thread had begun to wait for it (since), else inferred. It is inferred, too, if the JVM did
// not name the owner when the thread was blocked: then contentions in between may be missing as well. It is ambiguous if the holder has not
// run since it was seen: then another thread must have held the lock in between.
func (o *owners) previous(l *lock, to *jvmthread.Interval, since, at jvmthread.Time) cause {
	c, evidence := l.release, l.release.time
	if l.owner != jvmthread.NoThread {
		c, evidence = lastRun(o.timeline, l.owner, at), l.seen
	}
	switch {
	case c.time < evidence:
		c.sure = jvmthread.ConfidenceAmbiguous
	case evidence < since, to.State == jvmthread.StateBlocked && to.Peer == jvmthread.NoThread:
		c.sure = jvmthread.ConfidenceInferred
	}
	return c
}

// lastKnown returns the last time at which a thread was seen to own or release the lock. An owner named later got the lock no earlier.
func (l *lock) lastKnown() jvmthread.Time { return max(l.seen, l.release.time) }

// clear forgets all locks.
func (o *owners) clear() {
	clear(o.locks)
	o.recent.Clear()
}
