// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"maps"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

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

// pending are causes that wait for their effect, by the thread that they affect.
type pending map[jvmthread.ThreadID]cause

// causes pairs starts and interrupts with their effects, and keeps the causes whose effect is still to come.
type causes struct {
	timeline    *timeline.Timeline
	starts      pending
	interrupts  pending
	unparks     pending
	unparksSeen bool                    // of platform threads
	bound       []jvmthread.Interaction // by the current event
	counters    *Counters
}

func (c *causes) apply(ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval) {
	switch ev.Kind {
	case jvmthread.KindStartCalled:
		c.startCalled(ev, th)
	case jvmthread.KindThreadStart:
		c.threadStart(ev, th)
	case jvmthread.KindInterruptCalled:
		c.remember(c.interrupts, ev.Peer, here(ev, th))
	case jvmthread.KindInterrupted:
		if !th.Open().State.Stopped() { // the exception is created before the wait that it ends is over
			delete(c.interrupts, ev.Thread)
		}
	case jvmthread.KindSleepEnd:
		if ev.Flags&jvmthread.FlagInterrupted != 0 {
			c.interrupted(ev.Thread, closed)
		}
	}
}

// here returns the event itself as a cause.
func here(ev *jvmthread.Event, th *timeline.Thread) cause {
	return cause{
		from: jvmthread.IntervalRef{Thread: ev.Thread, Seq: th.Open().Seq}, time: ev.Time, stack: ev.Stack,
		ready: ev.Flags&jvmthread.FlagVirtualPeer != 0,
	}
}

// lastRun returns where a thread ran last before a time: in its current interval if it is running, else in the last one in which it ran. Only
// a running thread can release a lock, notify, or start another one.
func lastRun(tl *timeline.Timeline, id jvmthread.ThreadID, at jvmthread.Time) cause {
	th := tl.Thread(id)
	if th == nil {
		return cause{}
	}
	open, last := th.Open(), th.LastRun()
	if th.MayRun() && open.Start < at || open.State == jvmthread.StateUnknown || last.Seq == jvmthread.NoSeq {
		return cause{from: jvmthread.IntervalRef{Thread: id, Seq: open.Seq}, time: at}
	}
	return cause{from: jvmthread.IntervalRef{Thread: id, Seq: last.Seq}, time: min(last.End, at)}
}

// maxCauses bounds the pending causes of each kind.
const maxCauses = 1 << 17

// remember stores a pending cause, within the limit.
func (c *causes) remember(to pending, id jvmthread.ThreadID, by cause) {
	if _, ok := to[id]; !ok && len(to) >= maxCauses {
		c.counters.CausesRefused++
		return
	}
	to[id] = by
}

// bind adds the interaction of a cause and the interval that it ended. It returns false if one is unknown or both are of the same thread.
func (c *causes) bind(by cause, kind jvmthread.InteractionKind, to *jvmthread.Interval, at jvmthread.Time) bool {
	if by.from.Thread == to.Thread || !by.known() || to.Seq == jvmthread.NoSeq {
		return false
	}
	c.bound = append(c.bound, jvmthread.Interaction{
		Kind: kind, From: by.from, To: jvmthread.IntervalRef{Thread: to.Thread, Seq: to.Seq},
		CauseTime: min(by.time, at), EffectTime: at, Lock: to.Lock, Stack: by.stack, Confidence: by.sure,
	})
	return true
}

// startCalled binds the start of a virtual thread, which is ready to run from here on, or remembers it until the thread starts to run.
func (c *causes) startCalled(ev *jvmthread.Event, th *timeline.Thread) {
	if ev.Flags&jvmthread.FlagVirtualPeer != 0 {
		if target := c.timeline.Thread(ev.Peer); target != nil && target.Open().State == jvmthread.StateQueued && target.Open().Seq == 1 &&
			target.Open().Start == ev.Time { // else a second call, which throws
			c.bind(here(ev, th), jvmthread.InteractionStart, target.Open(), ev.Time)
			return
		}
	}
	c.remember(c.starts, ev.Peer, here(ev, th))
}

func (c *causes) threadStart(ev *jvmthread.Event, th *timeline.Thread) {
	by, ok := c.starts[ev.Thread]
	if !ok {
		by = lastRun(c.timeline, ev.Peer, ev.Time)
		by.stack = ev.Stack
	}
	delete(c.starts, ev.Thread)
	if th.Open().Start == ev.Time { // else its mount was the start
		c.bind(by, jvmthread.InteractionStart, th.Open(), ev.Time)
	}
}

// interrupted binds the pending interrupt of a thread to the interval that it ended.
func (c *causes) interrupted(id jvmthread.ThreadID, closed *jvmthread.Interval) {
	by, ok := c.interrupts[id]
	if !ok {
		c.counters.WakeUpsUnbound++
		return
	}
	delete(c.interrupts, id)
	c.bind(by, jvmthread.InteractionInterrupt, closed, closed.End)
}

// expire drops older causes.
func (c *causes) expire(before jvmthread.Time) {
	c.counters.StartsUnbound += c.starts.expire(before)
	c.counters.InterruptsUnbound += c.interrupts.expire(before)
	c.unparks.expire(before) // an unused permit is not an anomaly
}

// expire drops causes before the given time and returns how many there were.
func (p pending) expire(before jvmthread.Time) uint64 {
	all := len(p)
	maps.DeleteFunc(p, func(_ jvmthread.ThreadID, c cause) bool { return c.time < before })
	return uint64(all - len(p))
}

// len returns the number of pending causes.
func (c *causes) len() int { return len(c.starts) + len(c.interrupts) + len(c.unparks) }
