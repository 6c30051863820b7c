// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package interaction answers: who let whom go on? It pairs causes with effects while the events of a session go by in the order of
// time: the holder of a lock with the thread that gets it, a notify with the thread it woke, a start with the new thread, the end of a
// thread with the one that joined it, an interrupt or an unpark with its target.
//
// A cause that never had an effect, and an effect without a known cause, are counted and make no interaction. Every map is bounded: by
// the locks and threads of the recent past (Expire) and by a limit.
package interaction

import (
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxLocks bounds the locks of a session that are followed at one time.
const DefaultMaxLocks = 1 << 18

// Counters say what stayed unbound.
type Counters struct {
	HandoffsUnbound   uint64 // a blocked thread went on, and who had held the lock is not known
	NotifiesUnbound   uint64 // notify or notifyAll was called when nobody waited
	WakeUpsUnbound    uint64 // a wait ended by neither time nor anything that was seen
	StartsUnbound     uint64 // Thread.start was called, and the thread never began
	InterruptsUnbound uint64 // Thread.interrupt was called, and nothing was interrupted
	LocksRefused      uint64 // events on locks over the limit
	CausesRefused     uint64 // starts, interrupts and unparks over the limit of those that wait for their effect
}

// cause is where and when something was done that may let another thread go on.
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

// New returns a Binder that looks at where the threads of the timeline stand.
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

// Counters returns what stayed unbound so far.
func (b *Binder) Counters() Counters { return b.counters }

// Apply takes an event after the timeline has, if that took it, with its thread (nil for a gap of all threads) and the interval of it that
// the event closed (its Seq is NoSeq if it closed none), and appends the interactions that it completes.
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
		if !th.Open().State.Stopped() { // the exception is made before the wait that it ends is over
			delete(b.interrupts, ev.Thread)
		}
	case jvmthread.KindSleepEnd:
		if ev.Flags&jvmthread.FlagInterrupted != 0 {
			return b.interrupted(ev, closed, out)
		}
	case jvmthread.KindUnpark:
		if _, ok := b.unparks[ev.Peer]; !ok { // a second one changes nothing: there is one permit
			b.remember(b.unparks, ev, th)
		}
	case jvmthread.KindUnparked:
		return b.unparked(ev, closed, out)
	case jvmthread.KindGap:
		b.gap(th)
	}
	return out
}

// here is the event itself as a cause.
func here(ev *jvmthread.Event, th *timeline.Thread) cause {
	return cause{from: jvmthread.IntervalRef{Thread: ev.Thread, Seq: th.Open().Seq}, time: ev.Time, stack: ev.Stack}
}

// maxCauses bounds the causes of each kind that wait for their effect.
const maxCauses = 1 << 17

// remember keeps an event as a cause of something that is to happen to its peer, if there is room.
func (b *Binder) remember(causes map[jvmthread.ThreadID]cause, ev *jvmthread.Event, th *timeline.Thread) {
	if _, ok := causes[ev.Peer]; !ok && len(causes) >= maxCauses {
		b.counters.CausesRefused++
		return
	}
	causes[ev.Peer] = here(ev, th)
}

// bind makes an interaction of a cause and the interval that it ended, unless a thread would have woken itself.
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

// interrupted binds the interrupt that ended an interval.
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
		// The flag stays set until somebody consumes it, which is another event.
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

// gap forgets what a gap makes doubtful: everything of the thread, or all of it.
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

// Expire forgets the locks nobody spoke of since the given time and nobody waits for, and the causes older than it that had no effect.
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
	expire(b.unparks, before) // a permit that nobody took is no anomaly
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
