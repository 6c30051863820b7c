// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package interaction finds which thread unblocked which. It reads the events of a session in the order of time and pairs causes with
// effects: the holder of a lock with the thread that gets it, a notify with the thread it woke, a start with the new thread, the end of a
// thread with the thread that joined it, an interrupt or an unpark with its target.
//
// Causes without an effect and effects without a known cause are counted. All maps are bounded: by the locks and threads of the recent past
// (Expire) and by limits.
//
// A Binder passes each event to what it is about: monitors (with their wait sets), parks (locks, permits and pools of java.util.concurrent) or
// causes (starts and interrupts). These share two ledgers: who owns which lock, and how far each thread has got with its wait.
package interaction

import (
	"maps"
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxLocks bounds the concurrently followed locks of a session.
const DefaultMaxLocks = 1 << 18

// Counters count causes and effects without a partner.
type Counters struct {
	HandoffsUnbound   uint64 // a blocked thread got the lock, and the previous holder is unknown
	NotifiesUnbound   uint64 // notify or notifyAll was called without a waiter
	WakeUpsUnbound    uint64 // a wait ended before its timeout, without a visible cause
	StartsUnbound     uint64 // Thread.start was called, and the thread never began
	InterruptsUnbound uint64 // Thread.interrupt was called without effect
	LocksRefused      uint64 // events on locks over the limit
	CausesRefused     uint64 // starts, interrupts and unparks over the limit
}

// Binder pairs causes and effects of one session. One goroutine owns it, the same that owns the Timeline.
type Binder struct {
	owners

	causes   causes
	waits    progress
	monitors monitors
	parks    parks
	counters Counters
}

// New returns a Binder that reads the states of threads from the timeline.
func New(tl *timeline.Timeline, maxLocks int) *Binder {
	b := new(Binder)
	b.owners = owners{timeline: tl, locks: make(map[jvmthread.LockID]*lock), maxLocks: maxLocks, counters: &b.counters}
	b.causes = causes{
		timeline: tl, starts: make(pending), interrupts: make(pending), unparks: make(pending), counters: &b.counters,
	}
	b.monitors = monitors{timeline: tl, owners: &b.owners, causes: &b.causes, waits: &b.waits, counters: &b.counters}
	b.parks = parks{timeline: tl, owners: &b.owners, causes: &b.causes, waits: &b.waits, counters: &b.counters}
	return b
}

// Counters returns the counts so far.
func (b *Binder) Counters() Counters { return b.counters }

// Apply applies an event that the timeline has accepted, and returns the interactions that it completes. They are valid until the next
// call. th is the event's thread, nil for a gap of all threads; closed is the interval of that thread that the event ended, with Seq NoSeq
// if there is none. Apply marks it as timed out if it is a park that its timeout ended.
func (b *Binder) Apply(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) []jvmthread.Interaction {
	b.causes.bound = b.causes.bound[:0]
	if waitedForLock(closed) {
		b.unblocked(closed.Lock, ev.Time)
	}
	if closed.State == jvmthread.StateQueued {
		b.parks.resumed(th, ev.Time)
	}
	switch ev.Kind {
	case jvmthread.KindContendedEnter, jvmthread.KindContendedEntered:
		b.monitors.applyEntry(ev, th, closed)
	case jvmthread.KindWait, jvmthread.KindJoinStart, jvmthread.KindWaited, jvmthread.KindWaitReturned, jvmthread.KindJoinEnd,
		jvmthread.KindNotify, jvmthread.KindNotifyAll:
		b.monitors.applyWait(ev, th, closed)
	case jvmthread.KindPark, jvmthread.KindUnpark, jvmthread.KindUnparked, jvmthread.KindUnmount:
		b.parks.apply(ev, th, closed)
	case jvmthread.KindStartCalled, jvmthread.KindThreadStart, jvmthread.KindInterruptCalled, jvmthread.KindInterrupted, jvmthread.KindSleepEnd:
		b.causes.apply(ev, th, closed)
	case jvmthread.KindThreadEnd:
		b.waits.of(th).dropShares()
	case jvmthread.KindGap:
		if closed.Wait.Contended() {
			b.heldStill(closed.Lock, ev.Time)
		}
		b.gap(th)
	}
	return b.causes.bound
}

// Woken binds the event that made a parked virtual thread ready to run. closed is the interval that it ended, th the thread of the event. It
// returns the interactions of the event: those of Apply, which must be called before, and the new ones.
func (b *Binder) Woken(ev *jvmthread.Event, th, woken *timeline.Thread, closed *jvmthread.Interval) []jvmthread.Interaction {
	if waitedForLock(closed) {
		b.unblocked(closed.Lock, ev.Time)
	}
	b.parks.woken(ev, th, woken, closed)
	return b.causes.bound
}

// gap drops the state of the thread, or of all threads.
func (b *Binder) gap(th *timeline.Thread) {
	b.causes.unparksSeen = false // some may be missing
	if th != nil {
		me := b.waits.of(th)
		me.dropShares()
		if me.lock != nil {
			me.lock.remove(me.thread)
		}
		*me = waiting{}
		return
	}
	b.clear()
	clear(b.waits.threads)
	clear(b.causes.unparks)
}

// Expire drops locks without events since the given time for which no thread waits, and older pending causes.
func (b *Binder) Expire(before jvmthread.Time) {
	for th := range b.timeline.Threads {
		open := th.Open()
		if l := b.locks[open.Lock]; l != nil && open.State.Stopped() {
			l.touched = max(l.touched, before)
		}
		if open.State != jvmthread.StateReentering {
			b.waits.of(th).back = false // it never said that it was back
		}
	}
	locks := len(b.locks)
	maps.DeleteFunc(b.locks, func(_ jvmthread.LockID, l *lock) bool { return l.touched < before })
	if len(b.locks) < locks {
		b.recent.Clear()
	}
	b.causes.expire(before)
}

// Bytes estimates the bytes in use.
func (b *Binder) Bytes() int {
	const perLock, perCause, perThread = 320, 120, int(unsafe.Sizeof(waiting{})) // of maps with their room
	return int(unsafe.Sizeof(jvmthread.Hold{}))*cap(b.holds) + perLock*len(b.locks) + perCause*b.causes.len() + perThread*cap(b.waits.threads)
}
