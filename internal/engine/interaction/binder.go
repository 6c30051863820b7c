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
	"maps"

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
	sure  jvmthread.Confidence // that it is the cause
	ready bool                 // it made a virtual thread ready to run
}

// known reports whether there is a cause.
func (c *cause) known() bool { return c.from.Seq != jvmthread.NoSeq }

// Binder pairs causes and effects of one session. One goroutine owns it, the same that owns the Timeline.
type Binder struct {
	timeline    *timeline.Timeline
	locks       map[jvmthread.LockID]*lock
	recent      recent.Cache[jvmthread.LockID, *lock]
	waits       []waiting                    // by the thread's slot
	starts      map[jvmthread.ThreadID]cause // by the thread that was started
	interrupts  map[jvmthread.ThreadID]cause // by the thread that was interrupted
	unparksSeen bool                         // of platform threads
	unparks     map[jvmthread.ThreadID]cause // by the thread that was unparked
	bound       []jvmthread.Interaction      // by the current event
	holds       []jvmthread.Hold             // ended, not taken yet
	maxLocks    int
	counters    Counters
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

// Apply applies an event that the timeline has accepted, and returns the interactions that it completes. They are valid until the next
// call. th is the event's thread, nil for a gap of all threads; closed is the interval of that thread that the event ended, with Seq NoSeq
// if there is none. Apply marks it as timed out if it is a park that its timeout ended.
func (b *Binder) Apply(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) []jvmthread.Interaction {
	b.bound = b.bound[:0]
	if closed.Wait.Contended() || contradicted(closed) {
		b.unblocked(closed.Lock, ev.Time)
	}
	if closed.State == jvmthread.StateQueued {
		b.resumed(ev, th)
	}
	switch ev.Kind {
	case jvmthread.KindContendedEnter:
		b.contendedEnter(ev, closed)
	case jvmthread.KindContendedEntered:
		if closed.State == jvmthread.StateReentering { // of a virtual thread
			b.waitReturned(ev, b.waiting(th), closed)
		} else {
			b.contendedEntered(ev, closed)
		}
	case jvmthread.KindWait, jvmthread.KindJoinStart:
		b.wait(ev, b.waiting(th), closed)
	case jvmthread.KindWaited:
		b.waited(ev, b.waiting(th), closed)
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		b.waitReturned(ev, b.waiting(th), closed)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		b.notify(ev, th)
	case jvmthread.KindStartCalled:
		b.startCalled(ev, th)
	case jvmthread.KindThreadStart:
		b.threadStart(ev, th)
	case jvmthread.KindInterruptCalled:
		b.remember(b.interrupts, ev, th)
	case jvmthread.KindInterrupted:
		if !th.Open().State.Stopped() { // the exception is created before the wait that it ends is over
			delete(b.interrupts, ev.Thread)
		}
	case jvmthread.KindSleepEnd:
		if ev.Flags&jvmthread.FlagInterrupted != 0 {
			b.interrupted(ev, closed)
		}
	case jvmthread.KindThreadEnd:
		b.dropShares(th)
	case jvmthread.KindPark:
		b.park(ev, th, closed)
	case jvmthread.KindUnpark:
		b.unparkCalled(ev, th)
	case jvmthread.KindUnparked:
		if closed.Seq != jvmthread.NoSeq && closed.State != jvmthread.StateQueued {
			b.unparked(ev, th, closed)
		}
	case jvmthread.KindUnmount:
		if closed.State == jvmthread.StateParked {
			b.wokeUp(b.unparks[ev.Thread], th, closed)
		}
	case jvmthread.KindGap:
		b.gap(th)
	}
	return b.bound
}

// contradicted reports whether a thread stopped to wait unseen: an event contradicted its state, which has been unknown since. It may have
// waited for a lock.
func contradicted(closed *jvmthread.Interval) bool {
	return closed.State == jvmthread.StateUnknown && (closed.Was == jvmthread.StateBlocked || closed.Was == jvmthread.StateParked)
}

// here returns the event itself as a cause.
func here(ev *jvmthread.Event, th *timeline.Thread) cause {
	return cause{
		from: jvmthread.IntervalRef{Thread: ev.Thread, Seq: th.Open().Seq}, time: ev.Time, stack: ev.Stack,
		ready: ev.Flags&jvmthread.FlagVirtualPeer != 0,
	}
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

// bind adds the interaction of a cause and the interval that it ended. It returns false if one is unknown or both are of the same thread.
func (b *Binder) bind(c cause, kind jvmthread.InteractionKind, to *jvmthread.Interval, at jvmthread.Time) bool {
	if c.from.Thread == to.Thread || !c.known() || to.Seq == jvmthread.NoSeq {
		return false
	}
	b.bound = append(b.bound, jvmthread.Interaction{
		Kind: kind, From: c.from, To: jvmthread.IntervalRef{Thread: to.Thread, Seq: to.Seq},
		CauseTime: min(c.time, at), EffectTime: at, Lock: to.Lock, Stack: c.stack, Confidence: c.sure,
	})
	return true
}

func (b *Binder) threadStart(ev *jvmthread.Event, th *timeline.Thread) {
	c, ok := b.starts[ev.Thread]
	if !ok {
		c = b.releaseBy(ev.Peer, ev.Time)
		c.stack = ev.Stack
	}
	delete(b.starts, ev.Thread)
	if th.Open().Start == ev.Time { // else its mount was the start
		b.bind(c, jvmthread.InteractionStart, th.Open(), ev.Time)
	}
}

// interrupted binds the pending interrupt that ended an interval.
func (b *Binder) interrupted(ev *jvmthread.Event, closed *jvmthread.Interval) {
	c, ok := b.interrupts[ev.Thread]
	if !ok {
		b.counters.WakeUpsUnbound++
		return
	}
	delete(b.interrupts, ev.Thread)
	b.bind(c, jvmthread.InteractionInterrupt, closed, closed.End)
}

// unparked binds the unpark that ended a park, or else the interrupt that did. One that came before the park began left a permit, so the
// park did not wait for it. If neither came during the park, its timeout may have ended it.
func (b *Binder) unparked(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	if returns(closed.Wait) {
		b.waiting(th).began = ev.Time
	}
	c, ok := b.unparks[ev.Thread]
	delete(b.unparks, ev.Thread)
	switch i := b.interrupts[ev.Thread]; { // which stays pending until it is consumed, which is another event
	case ok && (c.time >= closed.Began() || c.ready): // a virtual thread with a permit does not park, so this one came while it was about to
		if !closed.Wait.Contended() {
			b.bind(c, jvmthread.InteractionUnpark, closed, ev.Time)
		} else if !b.got(ev, th, closed, c) {
			b.counters.HandoffsUnbound++
		}
	case !ok && i.known() && i.time >= closed.Began():
		b.bind(i, jvmthread.InteractionInterrupt, closed, ev.Time)
	case closed.Marks.Has(jvmthread.MarkInterrupted): // by a call that was not seen
	case closed.State == jvmthread.StateParked && expired(closed):
		closed.Marks |= jvmthread.MarkTimedOut
	case ok: // an earlier one: it left a permit
	case closed.Timeout <= 0 && b.timeline.MayExpire(closed): // perhaps by its timeout
		if closed.Wait.Contended() {
			b.counters.HandoffsUnbound++
		}
	case closed.Wait == jvmthread.WaitLock && b.wouldKnow(th): // it returned without an unpark, and tries again
		b.counters.HandoffsUnbound++
	case closed.Wait.Contended() && !b.got(ev, th, closed, cause{}):
		b.counters.HandoffsUnbound++
	}
}

// wouldKnow reports whether the unpark that ended a park would be known: of platform threads, all are if one is, unless events are missing. A
// thread that is interrupted while it is about to park returns before the call of interrupt is seen, and perhaps once more from its next park.
func (b *Binder) wouldKnow(th *timeline.Thread) bool {
	return b.unparksSeen && !th.Virtual()
}

// returns reports whether the end of a wait gives the thread something that it returns unseen: a task, a permit or an object of a pool.
func returns(w jvmthread.Wait) bool {
	return w.Idle() || w == jvmthread.WaitPermit || w == jvmthread.WaitPool
}

// expired reports whether an interval was as long as its timeout. The JVM may measure the timeout by another clock than that of the events,
// such as the wall clock for parkUntil; a thousandth covers the difference.
func expired(iv *jvmthread.Interval) bool {
	return iv.Timeout > 0 && int64(iv.End-iv.Start) >= iv.Timeout-iv.Timeout/1000
}

// gap drops the state of the thread, or of all threads.
func (b *Binder) gap(th *timeline.Thread) {
	b.unparksSeen = false // some may be missing
	if th != nil {
		b.dropShares(th)
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
	locks := len(b.locks)
	maps.DeleteFunc(b.locks, func(_ jvmthread.LockID, l *lock) bool { return l.touched < before })
	if len(b.locks) < locks {
		b.recent.Clear()
	}
	b.counters.StartsUnbound += expire(b.starts, before)
	b.counters.InterruptsUnbound += expire(b.interrupts, before)
	expire(b.unparks, before) // an unused permit is not an anomaly
}

// expire drops causes before the given time and returns how many there were.
func expire(causes map[jvmthread.ThreadID]cause, before jvmthread.Time) uint64 {
	all := len(causes)
	maps.DeleteFunc(causes, func(_ jvmthread.ThreadID, c cause) bool { return c.time < before })
	return uint64(all - len(causes))
}
