// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Locks returns the number of known locks.
func (b *Binder) Locks() int { return len(b.locks) }

// Owner returns the thread that was last seen to own a lock, or NoThread, and how many threads are blocked on the lock.
func (b *Binder) Owner(id jvmthread.LockID) (owner jvmthread.ThreadID, blocked int) {
	if l := b.find(id); l != nil {
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
func (b *Binder) Cut(at jvmthread.Time, room []jvmthread.Hold, queues []Queue) ([]jvmthread.Hold, []Queue) {
	for _, l := range b.locks {
		if b.ended(l.owner) {
			b.orphan(l, at)
		}
	}
	holds := b.holds
	b.holds = room[:0]
	for _, l := range b.locks {
		if l.blocked.Peak > 0 {
			queues = append(queues, Queue{l.id, int(l.blocked.Peak)})
			l.blocked.Peak = l.blocked.Now
		}
		holds = l.shared(at, holds)
		if l.owner != jvmthread.NoThread {
			holds = append(holds, l.open(at))
		}
	}
	return holds, queues
}

// ended reports whether a thread has ended.
func (b *Binder) ended(id jvmthread.ThreadID) bool {
	th := b.timeline.Thread(id)
	return th != nil && th.Dead()
}

// orphan ends the hold of an owner that has ended: it released the lock before. Who holds it now is unknown.
func (b *Binder) orphan(l *lock, at jvmthread.Time) {
	release := b.releaseBy(l.owner, at)
	if l.blocked.Now > 0 {
		b.endHold(l, release.time, jvmthread.HoldInferred)
	} else {
		b.endHold(l, l.seen, jvmthread.HoldInferred)
	}
	l.owner, l.release = jvmthread.NoThread, release
}

// open returns the hold of the owner so far.
func (l *lock) open(at jvmthread.Time) jvmthread.Hold {
	h := jvmthread.Hold{Start: l.since, End: at, Lock: l.id, Thread: l.owner, Marks: l.marks | jvmthread.HoldOpen | jvmthread.HoldSoFar}
	if l.blocked.Now == 0 {
		h.End, h.Marks = l.seen, l.marks|jvmthread.HoldInferred|jvmthread.HoldSoFar
	}
	return h
}

// Bytes estimates the bytes in use.
func (b *Binder) Bytes() int {
	const perLock, perCause, perThread = 320, 120, int(unsafe.Sizeof(waiting{})) // of maps with their room
	return int(unsafe.Sizeof(jvmthread.Hold{}))*cap(b.holds) + perLock*len(b.locks) +
		perCause*(len(b.starts)+len(b.interrupts)+len(b.unparks)) + perThread*cap(b.waits)
}

// NewHolds returns the holds that ended since the last cut, but for the first n. They are valid until the next event.
func (b *Binder) NewHolds(n int) []jvmthread.Hold { return b.holds[min(n, len(b.holds)):] }

// AppendOpen appends the current holds of a lock up to a time, as Cut does for all locks. Those of its owner may be empty.
func (b *Binder) AppendOpen(holds []jvmthread.Hold, id jvmthread.LockID, at jvmthread.Time) []jvmthread.Hold {
	l := b.find(id)
	if l == nil {
		return holds
	}
	if l.owner != jvmthread.NoThread {
		holds = append(holds, l.open(at))
	}
	return l.shared(at, holds)
}

// Held is a lock on which threads are blocked now.
type Held struct {
	Lock  jvmthread.LockID
	Owner jvmthread.ThreadID
	Since jvmthread.Time // when the owner got it, or was first seen to own it
}

// Held calls yield for each lock that has a known owner and blocked threads, in no particular order.
func (b *Binder) Held(yield func(Held) bool) {
	for _, l := range b.locks {
		if l.blocked.Now > 0 && l.owner != jvmthread.NoThread && !b.ended(l.owner) && !yield(Held{l.id, l.owner, l.since}) {
			return
		}
	}
}
