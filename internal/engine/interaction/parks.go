// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A lock of java.util.concurrent reports less than a monitor: its owner when a thread parks, and which thread unparked which. So who unparks
// a waiter has just released the lock, and the waiter gets it when its park returns, unless it parks again at once: then another thread was
// faster.

// parks binds unparks, and handoffs of locks, permits and objects of pools.
type parks struct {
	timeline *timeline.Timeline
	owners   *owners
	causes   *causes
	waits    *progress
	counters *Counters
}

func (p *parks) apply(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	switch ev.Kind {
	case jvmthread.KindPark:
		p.park(ev, th, closed)
	case jvmthread.KindUnpark:
		p.unpark(ev, th)
	case jvmthread.KindUnparked:
		if closed.Seq != jvmthread.NoSeq && closed.State != jvmthread.StateQueued && ev.Flags&jvmthread.FlagSystemCall == 0 {
			p.unparked(th, closed, ev.Time)
		}
	case jvmthread.KindUnmount:
		if closed.State == jvmthread.StateParked {
			p.wokeUp(p.causes.unparks[ev.Thread], th, closed)
		}
	}
}

// park records that a thread waits for a lock, a permit or an object of a pool, and the owner that the JVM named. A thread without a task
// holds none.
func (p *parks) park(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	wait := th.Open().Wait
	if wait.Idle() {
		p.waits.of(th).dropShares()
	}
	if !wait.Contended() {
		return
	}
	l := p.owners.lock(ev.Lock, ev.Time)
	if l == nil {
		return
	}
	l.unshare(ev.Thread)
	l.blocked.Enter()
	if l.blocked.Now == 1 {
		for i := range l.sharers {
			l.sharers[i].since, l.sharers[i].unsure = ev.Time, true
		}
	}
	if l.owner == ev.Thread {
		if l.since == closed.Start {
			l.owner = jvmthread.NoThread // it did not get the lock
		} else {
			p.owners.released(l, closed, l.othersBlocked(1), jvmthread.HoldInferred)
		}
	}
	switch {
	case ev.Peer != jvmthread.NoThread && ev.Peer != ev.Thread:
		p.owners.own(l, ev.Peer, ev.Time, l.othersBlocked(1))
	case ev.Peer == jvmthread.NoThread && l.owner != jvmthread.NoThread && l.othersBlocked(1) == 0:
		p.owners.endHold(l, l.seen, jvmthread.HoldInferred) // no thread waited since, and the lock has no owner, or a recording names none
		l.owner, l.release = jvmthread.NoThread, cause{}
	}
}

// unpark records a release, if the target waits for a lock, and the cause of the end of a park that has not ended yet. Of several causes, the
// first one counts: there is one permit. A virtual thread consumes it unseen, so its last one counts.
func (p *parks) unpark(ev *jvmthread.Event, th *timeline.Thread) {
	c := here(ev, th)
	if target := p.timeline.Thread(ev.Peer); target != nil && ev.Peer != ev.Thread {
		open := target.Open()
		if open.State == jvmthread.StateParked || open.State == jvmthread.StateDeadlocked {
			p.releases(c, th, open)
		}
	}
	_, waits := p.causes.unparks[ev.Peer]
	virtual := ev.Flags&jvmthread.FlagVirtualPeer != 0
	p.causes.unparksSeen = p.causes.unparksSeen || !virtual
	switch {
	case ev.Flags&jvmthread.FlagTimedOut != 0: // it is the timeout itself
	case virtual || !waits:
		p.causes.remember(p.causes.unparks, ev.Peer, c)
	}
}

// releases records that a thread returned what another one waits for.
func (p *parks) releases(c cause, th *timeline.Thread, open *jvmthread.Interval) {
	l := p.owners.find(open.Lock)
	if l == nil || !open.Wait.Contended() {
		return
	}
	if open.Wait != jvmthread.WaitLock {
		p.owners.endShare(l, p.waits.of(th), c.time, open.Began())
		return
	}
	if p.quits(l, th) {
		return
	}
	if l.owner != c.from.Thread { // the owner is only known from when a thread began to wait
		p.owners.own(l, c.from.Thread, max(l.lastKnown(), open.Began()), 0)
	}
	p.owners.endHold(l, c.time, 0)
	l.owner, l.release = jvmthread.NoThread, c
}

// quits reports whether a thread that unparks a waiter does not hold the lock, but has waited for it, too, until its timeout: when it leaves the
// queue, it wakes the next one.
func (p *parks) quits(l *lock, th *timeline.Thread) bool {
	return th != nil && l.owner != jvmthread.NoThread && l.owner != th.Open().Thread && p.waits.of(th).gaveUp == l.id
}

// unparked binds the unpark that ended a park, or else the interrupt that did. One that came before the park began left a permit, so the
// park did not wait for it. If neither came during the park, its timeout may have ended it.
func (p *parks) unparked(th *timeline.Thread, closed *jvmthread.Interval, at jvmthread.Time) {
	if returns(closed.Wait) {
		p.waits.of(th).began = at
	}
	c, ok := p.causes.unparks[closed.Thread]
	delete(p.causes.unparks, closed.Thread)
	switch i := p.causes.interrupts[closed.Thread]; { // which stays pending until it is consumed, which is another event
	case ok && (c.time >= closed.Began() || c.ready): // a virtual thread with a permit does not park, so this one came while it was about to
		if !closed.Wait.Contended() {
			p.causes.bind(c, jvmthread.InteractionUnpark, closed, at)
		} else if !p.got(th, closed, at, c) {
			p.counters.HandoffsUnbound++
		}
	case !ok && i.known() && i.time >= closed.Began():
		p.causes.bind(i, jvmthread.InteractionInterrupt, closed, at)
	case closed.Marks.Has(jvmthread.MarkInterrupted): // by a call that was not seen
	case closed.State == jvmthread.StateParked && expired(closed):
		closed.Marks |= jvmthread.MarkTimedOut
		if closed.Wait == jvmthread.WaitLock {
			p.waits.of(th).gaveUp = closed.Lock
		}
	case ok: // an earlier one: it left a permit
	case closed.Timeout <= 0 && p.timeline.MayExpire(closed): // perhaps by its timeout
		if closed.Wait.Contended() {
			p.counters.HandoffsUnbound++
		}
	case closed.Wait == jvmthread.WaitLock && p.wouldKnow(th): // it returned without an unpark, and tries again
		p.counters.HandoffsUnbound++
	case closed.Wait.Contended() && !p.got(th, closed, at, cause{}):
		p.counters.HandoffsUnbound++
	}
}

// wouldKnow reports whether the unpark that ended a park would be known: of platform threads, all are if one is, unless events are missing. A
// thread that is interrupted while it is about to park returns before the call of interrupt is seen, and perhaps once more from its next park.
func (p *parks) wouldKnow(th *timeline.Thread) bool {
	return p.causes.unparksSeen && !th.Virtual()
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

// got records that a thread no longer waits for a lock, and binds the handoff from the thread that unparked it, if the cause is known, else
// from the previous owner. It returns false if neither is known.
func (p *parks) got(th *timeline.Thread, closed *jvmthread.Interval, at jvmthread.Time, c cause) (bound bool) {
	l := p.owners.find(closed.Lock)
	if l == nil {
		return p.causes.bind(c, jvmthread.InteractionHandoff, closed, at)
	}
	l.touched = at
	if c.known() && closed.Wait == jvmthread.WaitLock && p.quits(l, p.timeline.Thread(c.from.Thread)) {
		l.seen = max(l.seen, c.time) // its release would have ended the wait
		return p.causes.bind(c, jvmthread.InteractionUnpark, closed, at)
	}
	if c.known() {
		bound = p.causes.bind(c, jvmthread.InteractionHandoff, closed, at)
	} else if closed.Wait == jvmthread.WaitLock {
		bound = p.inferHandoff(l, closed, at)
	}
	switch {
	case closed.Wait == jvmthread.WaitLock:
		p.waits.of(th).gaveUp = jvmthread.LockID{}
		p.owners.own(l, closed.Thread, at, gotIt|waitedFor)
	case bound:
		p.waits.of(th).share(l, at)
	}
	return bound
}

// inferHandoff binds a park to the previous owner of its lock: nothing else is known to have ended it.
func (p *parks) inferHandoff(l *lock, to *jvmthread.Interval, at jvmthread.Time) bool {
	c := p.owners.previous(l, to, to.Began(), at)
	c.sure = max(c.sure, jvmthread.ConfidenceInferred)
	return p.causes.bind(c, jvmthread.InteractionHandoff, to, at)
}
