// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// Locks returns the number of known locks.
func (o *owners) Locks() int { return len(o.locks) }

// Owner returns the thread that was last seen to own a lock, or NoThread, and how many threads are blocked on the lock.
func (o *owners) Owner(id jvmthread.LockID) (owner jvmthread.ThreadID, blocked int) {
	if l := o.find(id); l != nil {
		return l.owner, int(l.blocked.Now)
	}
	return jvmthread.NoThread, 0
}

// Queue is the largest number of threads that were blocked on a lock at the same time.
type Queue struct {
	Lock jvmthread.LockID
	Peak int
}

// Cut returns the holds that ended since the last cut or are still open at the given time, and appends the locks on which threads were blocked
// since then, in no particular order. The holds are valid until the next cut, which reuses their memory as room. Without a blocked thread, an
// owner may have released its lock long ago: such a hold ends where the owner was last seen.
func (o *owners) Cut(at jvmthread.Time, room []jvmthread.Hold, queues []Queue) ([]jvmthread.Hold, []Queue) {
	for _, l := range o.locks {
		if l.blocked.Peak > 0 {
			queues = append(queues, Queue{l.id, int(l.blocked.Peak)})
			l.blocked.Peak = l.blocked.Now
		}
		if end, ended := o.ended(l.owner); ended && end <= at {
			o.free(l, end) // the timeline may forget the thread
		}
		o.holds = o.appendOpen(o.holds, l, at)
	}
	holds := o.holds
	o.holds = room[:0]
	return holds, queues
}

// appendOpen appends the current holds of a lock up to a time.
func (o *owners) appendOpen(holds []jvmthread.Hold, l *lock, at jvmthread.Time) []jvmthread.Hold {
	if l.owner != jvmthread.NoThread && !l.pool.is {
		end, open := o.heldUntil(l, at)
		marks := l.marks | jvmthread.HoldSoFar
		if open {
			marks |= jvmthread.HoldOpen
		} else {
			marks |= jvmthread.HoldInferred
		}
		holds = append(holds, jvmthread.Hold{Start: l.since, End: end, Lock: l.id, Thread: l.owner, Marks: marks})
	}
	return l.shared(at, holds)
}

// heldUntil returns until when the owner of a lock held it at most, as far as is known at a time, and whether it may still hold it then. If
// no thread is waiting, it is only known to have held the lock until it was last seen.
func (o *owners) heldUntil(l *lock, at jvmthread.Time) (end jvmthread.Time, open bool) {
	if l.blocked.Now == 0 {
		return l.seen, false
	}
	if end, ended := o.ended(l.owner); ended {
		return max(l.seen, min(end, at)), false
	}
	return at, true
}

// ended returns when a thread ended, and false if it has not, or if it is unknown.
func (o *owners) ended(id jvmthread.ThreadID) (jvmthread.Time, bool) {
	th := o.timeline.Thread(id)
	if th == nil || !th.Dead() {
		return 0, false
	}
	return th.Open().Start, true
}

// NewHolds returns the holds that ended since the last cut, but for the first n. They are valid until the next event.
func (o *owners) NewHolds(n int) []jvmthread.Hold { return o.holds[min(n, len(o.holds)):] }

// AppendOpen appends the current holds of a lock up to a time, as Cut does for all locks. Those of its owner may be empty.
func (o *owners) AppendOpen(holds []jvmthread.Hold, id jvmthread.LockID, at jvmthread.Time) []jvmthread.Hold {
	l := o.find(id)
	if l == nil {
		return holds
	}
	return o.appendOpen(holds, l, at)
}

// Held is a lock on which threads are blocked now.
type Held struct {
	Lock  jvmthread.LockID
	Owner jvmthread.ThreadID
	Since jvmthread.Time // when the owner got it, or was first seen to own it
}

// Held calls yield for each lock that has a known owner, which has not ended, and blocked threads, in no particular order.
func (o *owners) Held(yield func(Held) bool) {
	for _, l := range o.locks {
		if l.blocked.Now == 0 || l.owner == jvmthread.NoThread {
			continue
		}
		if _, ended := o.ended(l.owner); !ended && !yield(Held{l.id, l.owner, l.since}) {
			return
		}
	}
}
