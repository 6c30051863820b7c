// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// set is a set of states.
type set uint16

func states(list ...jvmthread.State) (s set) {
	for _, st := range list {
		s |= 1 << st
	}
	return s
}

func (s set) has(st jvmthread.State) bool { return s&(1<<st) != 0 }

// transition is the effect of an event on the state of its thread.
type transition struct {
	from set                                                                        // the states in which it is valid, in addition to unknown
	move func(*Thread, *jvmthread.Event, []jvmthread.Interval) []jvmthread.Interval // nil: the state stays, but the thread must be running
}

// transitions is the state machine. An event in a state outside from is counted as inconsistent, and the current interval becomes unknown;
// then the event moves the thread as usual.
var transitions = [jvmthread.NumKinds]transition{
	jvmthread.KindThreadStart:      {states(), (*Thread).run},
	jvmthread.KindThreadEnd:        {states(jvmthread.StateRunnable, jvmthread.StateDeadlocked), (*Thread).end},
	jvmthread.KindContendedEnter:   {states(jvmthread.StateRunnable, jvmthread.StateReentering), (*Thread).block},
	jvmthread.KindContendedEntered: {states(jvmthread.StateBlocked, jvmthread.StateDeadlocked), (*Thread).entered},
	jvmthread.KindWait:             {running, (*Thread).beginWait},
	jvmthread.KindWaited:           {states(jvmthread.StateWaiting, jvmthread.StateJoining), (*Thread).waited},
	jvmthread.KindWaitReturned:     {states(jvmthread.StateReentering, jvmthread.StateWaiting), (*Thread).run},
	jvmthread.KindJoinStart:        {running, (*Thread).beginWait},
	jvmthread.KindJoinEnd:          {states(jvmthread.StateReentering, jvmthread.StateJoining), (*Thread).run},
	jvmthread.KindSleepStart:       {running, (*Thread).stop},
	jvmthread.KindSleepEnd:         {states(jvmthread.StateSleeping), (*Thread).run},
	jvmthread.KindPark:             {running, (*Thread).stop},
	jvmthread.KindUnparked:         {states(jvmthread.StateParked), (*Thread).run},
	jvmthread.KindStartCalled:      {running, nil},
	jvmthread.KindInterruptCalled:  {running, nil},
	jvmthread.KindNotify:           {running, nil},
	jvmthread.KindNotifyAll:        {running, nil},
	jvmthread.KindUnpark:           {running, nil},
	jvmthread.KindYield:            {running, nil},
	jvmthread.KindSuspend:          {running, nil},
	jvmthread.KindResume:           {running, nil},
	jvmthread.KindStop:             {running, nil},
	jvmthread.KindInterrupted:      {anyState, nil},
	jvmthread.KindMount:            {anyState, nil},
	jvmthread.KindUnmount:          {anyState, nil},
	jvmthread.KindGap:              {anyState, (*Thread).lost},
	jvmthread.KindContext:          {anyState, nil},
	jvmthread.KindOwnerStack:       {anyState, nil},
	jvmthread.KindCPU:              {anyState, nil},
}

const (
	running  = set(1 << jvmthread.StateRunnable)
	anyState = ^set(0)
)

func (t *Timeline) advance(th *Thread, ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	tr := &transitions[ev.Kind]
	switch {
	case th.open.State == jvmthread.StateUnknown:
		if tr.move == nil && tr.from == running { // only a running thread can do this
			return th.run(ev, out)
		}
	case !tr.from.has(th.open.State):
		t.counters.Inconsistent++
		if ev.Kind == jvmthread.KindContendedEntered && th.open.State == jvmthread.StateRunnable {
			return out // some JVMs post it without contendedEnter for virtual threads; the state is already right
		}
		if th.open.State != jvmthread.StateDeadlocked { // its Was is set
			th.open.Was = th.open.State
		}
		th.open.State = jvmthread.StateUnknown
		if tr.move == nil {
			return th.run(ev, out)
		}
	}
	if tr.move == nil {
		return out
	}
	return tr.move(th, ev, out)
}

// found applies an event of a snapshot, which found the thread in a state, or found that it has left one. It returns false if the thread
// is already known to be in the resulting state. Otherwise that state began some time before.
func (t *Thread) found(ev *jvmthread.Event, out []jvmthread.Interval) (_ []jvmthread.Interval, news bool) {
	move := transitions[ev.Kind].move
	if move == nil {
		return out, false
	}
	before, n := *t, len(out)
	if t.more != nil {
		m := *t.more
		before.more = &m
	}
	out = move(t, ev, out)
	if same(&before.open, &t.open) {
		*t = before
		return out[:n], false
	}
	if t.open.State != jvmthread.StateRunnable {
		t.open.Marks |= jvmthread.MarkPartial
	}
	return out, true
}

// same reports whether a thread is in the state in which a snapshot found it, or was before it became deadlocked.
func same(before, found *jvmthread.Interval) bool {
	state := before.State == found.State ||
		before.State == jvmthread.StateDeadlocked && (found.State == jvmthread.StateBlocked || found.State == jvmthread.StateParked) ||
		before.State == jvmthread.StateReentering && found.State == jvmthread.StateBlocked // it is both
	return state && before.Lock == found.Lock
}

func (t *Thread) run(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	t.inWait = false
	if ev.Flags&jvmthread.FlagInterrupted != 0 {
		t.open.Marks |= jvmthread.MarkInterrupted
	}
	return t.to(jvmthread.StateRunnable, ev.Time, out)
}

func (t *Thread) end(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	t.dead = true
	return t.to(jvmthread.StateDead, ev.Time, out)
}

func (t *Thread) lost(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	t.inWait = false
	out = t.to(jvmthread.StateUnknown, ev.Time, out)
	t.open.Marks = jvmthread.MarkPartial
	return out
}

func (t *Thread) block(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	out = t.to(jvmthread.StateBlocked, ev.Time, out)
	t.open.Lock, t.open.Peer, t.open.Stack = ev.Lock, ev.Peer, ev.Stack
	return out
}

// entered returns to the previous state: running or, inside a wait, reentering until waitReturned.
func (t *Thread) entered(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	if !t.inWait {
		return t.to(jvmthread.StateRunnable, ev.Time, out)
	}
	return t.reenter(ev, out)
}

func (t *Thread) beginWait(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	out = t.stop(ev, out)
	t.inWait = true
	return out
}

func (t *Thread) waited(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		t.open.Marks |= jvmthread.MarkTimedOut
	}
	t.waitPeer, t.waitStack, t.inWait = t.open.Peer, t.open.Stack, true
	return t.reenter(ev, out)
}

func (t *Thread) reenter(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	out = t.to(jvmthread.StateReentering, ev.Time, out)
	t.open.Lock, t.open.Peer, t.open.Stack = ev.Lock, t.waitPeer, t.waitStack
	return out
}

// stop begins a state that the event describes completely.
func (t *Thread) stop(ev *jvmthread.Event, out []jvmthread.Interval) []jvmthread.Interval {
	var s jvmthread.State
	switch ev.Kind {
	case jvmthread.KindWait:
		s = jvmthread.StateWaiting
	case jvmthread.KindJoinStart:
		s = jvmthread.StateJoining
	case jvmthread.KindSleepStart:
		s = jvmthread.StateSleeping
	case jvmthread.KindPark:
		s = jvmthread.StateParked
	}
	out = t.to(s, ev.Time, out)
	t.open.Lock, t.open.Peer, t.open.Stack, t.open.Timeout = ev.Lock, ev.Peer, ev.Stack, ev.Arg
	return out
}
