// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// LostNotify is a wait that timed out although a notify on its object had been called: it came too early, or woke another thread. It is a hint.
// Who looks at the condition before it waits loses nothing by a notify that came before; and a pool of waiters may well let some time out.
type LostNotify struct {
	Wait       jvmthread.Interval // that timed out
	Notified   jvmthread.Time     // when notify was called
	OtherWoken bool               // during the wait, and it woke another thread; else before, and nobody waited
}

// timedOut notes a wait that timed out after a notify that did not wake it. A notify that nobody heard is told of once.
func (b *Binder) timedOut(l *lock, w waiter, wait *jvmthread.Interval) {
	switch {
	case wait.State != jvmthread.StateWaiting || w.notified.from.Seq != jvmthread.NoSeq:
	case l.heard > w.since:
		b.lost = append(b.lost, LostNotify{Wait: *wait, Notified: l.heard, OtherWoken: true})
	case l.unheard != jvmthread.NoTime && l.unheard < w.since:
		b.lost = append(b.lost, LostNotify{Wait: *wait, Notified: l.unheard})
		l.unheard = jvmthread.NoTime
	}
}

// TakeLost appends the lost notifies that are new since it was last called.
func (b *Binder) TakeLost(out []LostNotify) []LostNotify {
	out = append(out, b.lost...)
	b.lost = b.lost[:0]
	return out
}

// Held is a lock that others are blocked on now.
type Held struct {
	Lock    jvmthread.LockID
	Owner   jvmthread.ThreadID
	Since   jvmthread.Time // when the owner got it, or was first seen to own it
	Blocked int            // threads
}

// Held calls yield for each lock that somebody is blocked on and whose owner is known, in no order.
func (b *Binder) Held(yield func(Held) bool) {
	for _, l := range b.locks {
		if l.blocked.Now > 0 && l.owner != jvmthread.NoThread && !yield(Held{l.id, l.owner, l.since, int(l.blocked.Now)}) {
			return
		}
	}
}
