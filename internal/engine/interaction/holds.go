// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// Owner returns the thread that was last seen to own a lock, NoThread if none is known.
func (b *Binder) Owner(id jvmthread.LockID) jvmthread.ThreadID {
	if l := b.find(id); l != nil {
		return l.owner
	}
	return jvmthread.NoThread
}

// Locks is the number of locks that are known.
func (b *Binder) Locks() int { return len(b.locks) }

// Contended returns the owner of a lock as Owner does, and how many threads are blocked on it.
func (b *Binder) Contended(id jvmthread.LockID) (owner jvmthread.ThreadID, blocked int) {
	if l := b.find(id); l != nil {
		return l.owner, int(l.blocked.Now)
	}
	return jvmthread.NoThread, 0
}

// Queue is the largest number of threads that were blocked on a lock at one time.
type Queue struct {
	Lock jvmthread.LockID
	Peak int
}

// Cut returns the holds that ended since the last cut or go on at the given time, and appends the locks that threads were blocked on since then, in no
// order. The holds are good until the next cut, which is given them as the room for what comes after it.
// Without anybody waiting, an owner may have released long ago: such a hold ends where the owner was last seen to own the lock.
func (b *Binder) Cut(at jvmthread.Time, room []jvmthread.Hold, queues []Queue) ([]jvmthread.Hold, []Queue) {
	holds := b.holds
	b.holds = room[:0]
	for _, l := range b.locks {
		if l.blocked.Peak > 0 {
			queues = append(queues, Queue{l.id, int(l.blocked.Peak)})
			l.blocked.Peak = l.blocked.Now
		}
		if l.owner == jvmthread.NoThread {
			continue
		}
		h := jvmthread.Hold{Start: l.since, End: at, Lock: l.id, Thread: l.owner, Marks: l.marks | jvmthread.HoldOpen | jvmthread.HoldSoFar}
		if l.blocked.Now == 0 {
			h.End, h.Marks = l.seen, l.marks|jvmthread.HoldInferred|jvmthread.HoldSoFar
		}
		holds = append(holds, h)
	}
	return holds, queues
}

// unblocked notes that a thread is not blocked on a lock any more.
func (b *Binder) unblocked(id jvmthread.LockID) {
	if l := b.find(id); l != nil {
		l.blocked.Leave()
	}
}
