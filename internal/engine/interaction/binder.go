// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package interaction finds which thread unblocked which. It reads the events of a session in the order of time and pairs causes with
// effects: the holder of a lock with the thread that gets it, a notify with the thread it woke, a start with the new thread, the end of a
// thread with the thread that joined it, an interrupt or an unpark with its target.
//
// Causes without an effect and effects without a known cause are counted. All maps are bounded: by the locks and threads of the recent past
// (Expire) and by limits.
package interaction

import (
	"github.com/weft-otel/weft/internal/engine/recent"
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

// cause is the place and time of an action that may unblock another thread.
type cause struct {
	from  jvmthread.IntervalRef
	time  jvmthread.Time
	stack jvmthread.StackID
}

// Binder pairs causes and effects of one session. One goroutine owns it, the same that owns the Timeline.
type Binder struct {
	timeline   *timeline.Timeline
	locks      map[jvmthread.LockID]*lock
	recent     recent.Cache[jvmthread.LockID, *lock]
	waits      []waiting                    // by the thread's slot
	starts     map[jvmthread.ThreadID]cause // by the thread that was started
	interrupts map[jvmthread.ThreadID]cause // by the thread that was interrupted
	unparks    map[jvmthread.ThreadID]cause // by the thread that was unparked
	holds      []jvmthread.Hold             // ended, not taken yet
	lost       []LostNotify                 // not taken yet
	maxLocks   int
	counters   Counters
}

// New returns a Binder that reads the states of threads from the timeline.
func New(tl *timeline.Timeline, maxLocks int) *Binder {
	return &Binder{
		timeline:   tl,
		locks:      make(map[jvmthread.LockID]*lock),
		starts:     make(map[jvmthread.ThreadID]cause),
		interrupts: make(map[jvmthread.ThreadID]cause),
		unparks:    make(map[jvmthread.ThreadID]cause),
		maxLocks:   maxLocks,
	}
}

// Counters returns the counts so far.
func (b *Binder) Counters() Counters { return b.counters }

// Apply applies an event that the timeline has accepted, and appends the interactions that it completes. th is the event's thread, nil for a
// gap of all threads; closed is the interval of that thread that the event ended, with Seq NoSeq if there is none.
func (b *Binder) Apply(
	ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval, out []jvmthread.Interaction,
) []jvmthread.Interaction {
	if closed.State == jvmthread.StateBlocked || closed.Was == jvmthread.StateBlocked {
		b.unblocked(closed.Lock)
	}
	switch ev.Kind {
	case jvmthread.KindContendedEnter:
		b.contendedEnter(ev, closed)
	case jvmthread.KindContendedEntered:
		return b.contendedEntered(ev, closed, out)
	case jvmthread.KindWait, jvmthread.KindJoinStart:
		b.wait(ev, b.waiting(th), closed)
	case jvmthread.KindWaited:
		return b.waited(ev, b.waiting(th), closed, out)
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		return b.waitReturned(ev, b.waiting(th), closed, out)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		return b.notify(ev, th, out)
	case jvmthread.KindStartCalled:
		b.remember(b.starts, ev, th)
	case jvmthread.KindThreadStart:
		return b.threadStart(ev, th, out)
	case jvmthread.KindInterruptCalled:
		b.remember(b.interrupts, ev, th)
	case jvmthread.KindInterrupted:
		if !th.Open().State.Stopped() { // the exception is created before the wait that it ends is over
			delete(b.interrupts, ev.Thread)
		}
	case jvmthread.KindSleepEnd:
		if ev.Flags&jvmthread.FlagInterrupted != 0 {
			return b.interrupted(ev, closed, out)
		}
	case jvmthread.KindUnpark:
		if _, ok := b.unparks[ev.Peer]; !ok { // a second unpark has no effect: there is one permit
			b.remember(b.unparks, ev, th)
		}
	case jvmthread.KindUnparked:
		return b.unparked(ev, closed, out)
	case jvmthread.KindGap:
		b.gap(th)
	}
	return out
}

// here returns the event itself as a cause.
func here(ev *jvmthread.Event, th *timeline.Thread) cause {
	return cause{from: jvmthread.IntervalRef{Thread: ev.Thread, Seq: th.Open().Seq}, time: ev.Time, stack: ev.Stack}
}

// maxCauses bounds the pending causes of each kind.
const maxCauses = 1 << 17

// remember stores an event as a pending cause for its peer, within the limit.
func (b *Binder) remember(causes map[jvmthread.ThreadID]cause, ev *jvmthread.Event, th *timeline.Thread) {
	if _, ok := causes[ev.Peer]; !ok && len(causes) >= maxCauses {
		b.counters.CausesRefused++
		return
	}
	causes[ev.Peer] = here(ev, th)
}

// bind appends the interaction of a cause and the interval that it ended, unless both are of the same thread.
func bind(c cause, kind jvmthread.InteractionKind, to *jvmthread.Interval, at jvmthread.Time, out []jvmthread.Interaction) []jvmthread.Interaction {
	if c.from.Thread == to.Thread || c.from.Seq == jvmthread.NoSeq || to.Seq == jvmthread.NoSeq {
		return out
	}
	return append(out, jvmthread.Interaction{
		Kind: kind, From: c.from, To: jvmthread.IntervalRef{Thread: to.Thread, Seq: to.Seq},
		CauseTime: min(c.time, at), EffectTime: at, Lock: to.Lock, Stack: c.stack,
	})
}

func (b *Binder) threadStart(ev *jvmthread.Event, th *timeline.Thread, out []jvmthread.Interaction) []jvmthread.Interaction {
	c, ok := b.starts[ev.Thread]
	switch {
	case ok:
	case ev.Peer == jvmthread.NoThread:
		return out
	default:
		c = b.releaseBy(ev.Peer, ev.Time)
		c.stack = ev.Stack
	}
	delete(b.starts, ev.Thread)
	return bind(c, jvmthread.InteractionStart, th.Open(), ev.Time, out)
}

// interrupted binds the pending interrupt that ended an interval.
func (b *Binder) interrupted(ev *jvmthread.Event, closed *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	c, ok := b.interrupts[ev.Thread]
	if !ok {
		b.counters.WakeUpsUnbound++
		return out
	}
	delete(b.interrupts, ev.Thread)
	return bind(c, jvmthread.InteractionInterrupt, closed, closed.End, out)
}

// unparked binds the unpark that ended a park, or else the interrupt that did. One that came before the park began left a permit, so the park did not wait for it.
func (b *Binder) unparked(ev *jvmthread.Event, closed *jvmthread.Interval, out []jvmthread.Interaction) []jvmthread.Interaction {
	c, ok := b.unparks[ev.Thread]
	if !ok {
		// The flag stays set until it is consumed, which is another event.
		if c, ok = b.interrupts[ev.Thread]; ok && c.time >= closed.Start {
			return bind(c, jvmthread.InteractionInterrupt, closed, ev.Time, out)
		}
		return out
	}
	delete(b.unparks, ev.Thread)
	if c.time < closed.Start {
		return out
	}
	return bind(c, jvmthread.InteractionUnpark, closed, ev.Time, out)
}

// gap drops the state of the thread, or of all threads.
func (b *Binder) gap(th *timeline.Thread) {
	if th != nil {
		me := b.waiting(th)
		if me.lock != nil {
			me.lock.remove(me.thread)
		}
		*me = waiting{}
		return
	}
	clear(b.locks)
	b.recent.Clear()
	clear(b.waits)
	clear(b.unparks)
}

// Expire drops locks without events since the given time for which no thread waits, and older pending causes.
func (b *Binder) Expire(before jvmthread.Time) {
	for th := range b.timeline.Threads {
		open := th.Open()
		if l := b.locks[open.Lock]; l != nil && open.State.Stopped() {
			l.touched = max(l.touched, before)
		}
		if open.State != jvmthread.StateReentering {
			b.waiting(th).back = false // it never said that it was back
		}
	}
	b.recent.Clear()
	for id, l := range b.locks {
		if l.touched < before {
			delete(b.locks, id)
		}
	}
	b.counters.StartsUnbound += expire(b.starts, before)
	b.counters.InterruptsUnbound += expire(b.interrupts, before)
	expire(b.unparks, before) // an unused permit is not an anomaly
}

func expire(causes map[jvmthread.ThreadID]cause, before jvmthread.Time) (n uint64) {
	for id, c := range causes {
		if c.time < before {
			delete(causes, id)
			n++
		}
	}
	return n
}
