// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// LostNotify is a wait that timed out although notify was called on its object: too early, or it woke another thread. It is only a hint: code
// that checks its condition before it waits loses nothing by an early notify, and in a pool of waiters some may time out by design.
type LostNotify struct {
	Wait       jvmthread.Interval // that timed out
	Notified   jvmthread.Time     // when notify was called
	OtherWoken bool               // called during the wait, it woke another thread; otherwise it was called before the wait, without a waiter
}

// timedOut records a wait that timed out after a notify that did not wake it. A notify without a waiter is reported once.
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

// TakeLost appends the lost notifies since the previous call.
func (b *Binder) TakeLost(out []LostNotify) []LostNotify {
	out = append(out, b.lost...)
	b.lost = b.lost[:0]
	return out
}

// Held is a lock on which threads are blocked now.
type Held struct {
	Lock    jvmthread.LockID
	Owner   jvmthread.ThreadID
	Since   jvmthread.Time // when the owner got it, or was first seen to own it
	Blocked int            // threads
}

// Held calls yield for each lock that has a known owner and blocked threads, in no particular order.
func (b *Binder) Held(yield func(Held) bool) {
	for _, l := range b.locks {
		if l.blocked.Now > 0 && l.owner != jvmthread.NoThread && !yield(Held{l.id, l.owner, l.since, int(l.blocked.Now)}) {
			return
		}
	}
}
