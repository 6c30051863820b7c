// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// Some sources tell of effects only, and name the thread behind each: a flight recording names the owner before, the notifier and the
// thread that started another. Who it was is then exact; when it acted is taken to be when it last ran.

// handoffFrom binds the interval that ends since its thread got the lock to the owner before, whom the source names.
func (b *Binder) handoffFrom(l *lock, ev *jvmthread.Event, to *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	if l.owner != ev.Peer {
		b.own(l, ev.Peer, max(l.known(), to.Start), 0)
	}
	return bind(b.releaseBy(ev.Peer, ev.Time), jvmthread.InteractionHandoff, to, ev.Time, out)
}

// known is the last time at which somebody was seen to own the lock, or to give it up: an owner that is named later got it no earlier.
func (l *lock) known() jvmthread.Time { return max(l.seen, l.release.time) }

// notifiedBy returns the cause of the end of a wait whose notifier the source names, given what was found by the wait set.
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
