// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// Some sources record only effects and name the thread that caused each: a flight recording names the previous owner, the notifier and the
// starting thread. The thread is then exact; the time of its action is taken as the time when it last ran.

// handoffFrom binds the interval that ended because its thread got the lock to the previous owner, which the event names.
func (b *Binder) handoffFrom(l *lock, ev *jvmthread.Event, to *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	if l.owner != ev.Peer {
		b.own(l, ev.Peer, max(l.known(), to.Start), 0)
	}
	return bind(b.releaseBy(ev.Peer, ev.Time), jvmthread.InteractionHandoff, to, ev.Time, out)
}

// known returns the last time at which a thread was seen to own or release the lock. An owner named later got the lock no earlier.
func (l *lock) known() jvmthread.Time { return max(l.seen, l.release.time) }

// notifiedBy returns the waiter with the notifier that the event names as its cause.
func (b *Binder) notifiedBy(l *lock, ev *jvmthread.Event, w waiter) waiter {
	if w.notified.from.Thread != ev.Peer {
		w.notified, w.all = b.releaseBy(ev.Peer, ev.Time), false
		if w.notified.from.Seq != jvmthread.NoSeq && w.notified.time >= l.known() {
			b.own(l, ev.Peer, w.notified.time, l.othersBlocked(0)) // only an owner can notify
		}
	}
	w.sure = jvmthread.ConfidenceExact
	return w
}
