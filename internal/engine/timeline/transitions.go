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
	from set                                        // the states in which it is valid, in addition to unknown
	move func(*Timeline, *Thread, *jvmthread.Event) // nil: the state stays, but the thread must be running
}

// transitions is the state machine. An event in a state outside from is counted as inconsistent, and the current interval becomes unknown;
// then the event moves the thread as usual.
var transitions = [jvmthread.NumKinds]transition{
	jvmthread.KindThreadStart:      {states(jvmthread.StateQueued), (*Timeline).run},
	jvmthread.KindThreadEnd:        {states(jvmthread.StateRunnable, jvmthread.StateDeadlocked), (*Timeline).end},
	jvmthread.KindContendedEnter:   {states(jvmthread.StateRunnable, jvmthread.StateReentering), (*Timeline).block},
	jvmthread.KindContendedEntered: {states(jvmthread.StateBlocked, jvmthread.StateDeadlocked), (*Timeline).entered},
	jvmthread.KindWait:             {running, (*Timeline).beginWait},
	jvmthread.KindWaited:           {states(jvmthread.StateWaiting, jvmthread.StateJoining), (*Timeline).waited},
	jvmthread.KindWaitReturned:     {states(jvmthread.StateReentering, jvmthread.StateWaiting), (*Timeline).run},
	jvmthread.KindJoinStart:        {running, (*Timeline).beginWait},
	jvmthread.KindJoinEnd:          {states(jvmthread.StateReentering, jvmthread.StateJoining), (*Timeline).run},
	jvmthread.KindSleepStart:       {running, (*Timeline).stop},
	jvmthread.KindSleepEnd:         {states(jvmthread.StateSleeping), (*Timeline).run},
	jvmthread.KindPark:             {running, (*Timeline).stop},
	jvmthread.KindUnparked:         {states(jvmthread.StateParked, jvmthread.StateDeadlocked, jvmthread.StateQueued), (*Timeline).run},
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
	jvmthread.KindMount:            {anyState, (*Timeline).mount},
	jvmthread.KindUnmount:          {anyState, (*Timeline).unmount},
	jvmthread.KindGap:              {anyState, (*Timeline).lost},
	jvmthread.KindContext:          {anyState, nil},
	jvmthread.KindOwnerStack:       {anyState, nil},
	jvmthread.KindCPU:              {anyState, nil},
	jvmthread.KindOwnerContext:     {anyState, nil},
	jvmthread.KindRequestEnd:       {anyState, nil},
	jvmthread.KindRunning:          {anyState, nil},
	jvmthread.KindRunQueue:         {anyState, nil},
}

const (
	running  = set(1 << jvmthread.StateRunnable)
	anyState = ^set(0)
)

// endsUnseen reports whether an event may end a wait whose beginning was not posted: for virtual threads, some JVMs post contendedEntered without
// contendedEnter, and waited without wait where another thread initialized a class. The agent omits most of the latter.
func (th *Thread) endsUnseen(kind jvmthread.Kind) bool {
	return kind == jvmthread.KindContendedEntered || kind == jvmthread.KindWaited && th.virtual
}

func (t *Timeline) advance(th *Thread, ev *jvmthread.Event) {
	tr := &transitions[ev.Kind]
	move := tr.move
	reentering := th.open.State == jvmthread.StateReentering && th.virtual
	if reentering && !tr.from.has(jvmthread.StateReentering) && ev.Kind != jvmthread.KindContendedEntered {
		th.ran()
	}
	if th.open.State == jvmthread.StateQueued && tr.from.has(jvmthread.StateRunnable) && tr.from != anyState {
		th.ran() // since it was unseen
	}
	state := th.open.State
	switch {
	case th.open.Marks.Has(jvmthread.MarkContinues):
		state = jvmthread.StateDeadlocked // or was until another thread left the cycle
	case th.open.Marks.Has(jvmthread.MarkSeen): // it has returned from its system call, as it writes an event
		state = jvmthread.StateRunnable
		if move == nil {
			move = (*Timeline).run
		}
	}
	switch {
	case reentering && ev.Kind == jvmthread.KindContendedEntered:
	case (ev.Kind == jvmthread.KindUnparked || ev.Kind == jvmthread.KindThreadStart) && state == jvmthread.StateRunnable && th.on.carrier != jvmthread.NoThread:
		return // its mount said so already
	case th.open.State == jvmthread.StateUnknown:
		if move == nil && tr.from == running { // only a running thread can do this
			move = (*Timeline).run
		}
	case !tr.from.has(state):
		t.counters.Inconsistent++
		if th.open.State == jvmthread.StateRunnable && th.endsUnseen(ev.Kind) {
			return // the state is already right
		}
		if th.open.State != jvmthread.StateDeadlocked { // its Was is set
			th.open.Was = th.open.State
		}
		th.open.State, th.open.Wait = jvmthread.StateUnknown, jvmthread.WaitNone
		if move == nil {
			move = (*Timeline).run
		}
	}
	if move != nil {
		move(t, th, ev)
	}
}

// found applies an event of a snapshot, which found the thread in a state, or found that it has left one. It returns false if the thread
// is already known to be in the resulting state. Otherwise that state began some time before.
func (t *Timeline) found(th *Thread, ev *jvmthread.Event) (news bool) {
	if isReading(ev.Kind) {
		t.describe(th, ev)
		return true
	}
	move := transitions[ev.Kind].move
	if move == nil || ev.Flags&jvmthread.FlagSystemCall != 0 && !th.mayCall(ev) {
		return false
	}
	before := *th
	if th.more != nil {
		m := *th.more
		before.more = &m
	}
	move(t, th, ev)
	if same(&before.open, &th.open) {
		*th, t.closed = before, t.closed[:0]
		return false
	}
	if th.open.State != jvmthread.StateRunnable && !th.open.Marks.Has(jvmthread.MarkSeen) {
		th.open.Marks |= jvmthread.MarkPartial
	}
	return true
}

// mayCall reports whether a thread may be in the system call that an event begins, or is in the one that it ends.
func (th *Thread) mayCall(ev *jvmthread.Event) bool {
	seen := th.open.Marks.Has(jvmthread.MarkSeen)
	return seen || ev.Kind == jvmthread.KindPark && (th.open.State == jvmthread.StateRunnable || th.open.State == jvmthread.StateUnknown)
}

// same reports whether a thread is in the state in which a snapshot found it, or was before it became deadlocked.
func same(before, found *jvmthread.Interval) bool {
	state := before.State == found.State ||
		before.State == jvmthread.StateDeadlocked && (found.State == jvmthread.StateBlocked || found.State == jvmthread.StateParked) ||
		before.State == jvmthread.StateReentering && found.State == jvmthread.StateBlocked // it is both
	return state && before.Lock == found.Lock
}

func (t *Timeline) run(th *Thread, ev *jvmthread.Event) {
	th.inWait = false
	if ev.Flags&jvmthread.FlagInterrupted != 0 {
		th.open.Marks |= jvmthread.MarkInterrupted
	}
	t.to(th, jvmthread.StateRunnable, ev.Time)
}

func (t *Timeline) end(th *Thread, ev *jvmthread.Event) {
	th.dead = true
	t.leave(th.on.carrier, ev.Thread) // some JVMs report no unmount
	t.carriers.forget(ev.Thread)
	t.to(th, jvmthread.StateDead, ev.Time)
	t.dismount(th, ev.Time) // an unmount that follows has no effect
}

func (t *Timeline) lost(th *Thread, ev *jvmthread.Event) {
	t.carriers.forget(th.on.carrier)
	t.carriers.forget(ev.Thread) // what a carrier loses may be mounts
	th.inWait, th.on = false, carriage{}
	t.to(th, jvmthread.StateUnknown, ev.Time)
	th.open.Marks = jvmthread.MarkPartial
}

func (t *Timeline) block(th *Thread, ev *jvmthread.Event) {
	t.to(th, jvmthread.StateBlocked, ev.Time)
	th.open.Lock, th.open.Peer, th.open.Stack, th.open.Wait = ev.Lock, ev.Peer, ev.Stack, jvmthread.WaitLock
}

// entered returns to the previous state: running or, inside a wait, reentering until waitReturned. Some agents record no
// waitReturned of virtual threads.
func (t *Timeline) entered(th *Thread, ev *jvmthread.Event) {
	if th.inWait && !th.virtual {
		t.reenter(th, ev)
	} else {
		th.inWait = false
		t.to(th, jvmthread.StateRunnable, ev.Time)
	}
}

func (t *Timeline) beginWait(th *Thread, ev *jvmthread.Event) {
	t.stop(th, ev)
	th.inWait = true
}

func (t *Timeline) waited(th *Thread, ev *jvmthread.Event) {
	if ev.Flags&jvmthread.FlagTimedOut != 0 {
		th.open.Marks |= jvmthread.MarkTimedOut
	}
	th.waitPeer, th.waitStack, th.inWait = th.open.Peer, th.open.Stack, true
	t.reenter(th, ev)
}

func (t *Timeline) reenter(th *Thread, ev *jvmthread.Event) {
	t.to(th, jvmthread.StateReentering, ev.Time)
	th.open.Lock, th.open.Peer, th.open.Stack, th.open.Wait = ev.Lock, th.waitPeer, th.waitStack, jvmthread.WaitReenter
}

// stop begins a state that the event describes completely.
func (t *Timeline) stop(th *Thread, ev *jvmthread.Event) {
	if ev.Flags&jvmthread.FlagSystemCall != 0 {
		t.call(th, ev)
		return
	}
	t.to(th, stops[ev.Kind], ev.Time)
	th.open.Lock, th.open.Peer, th.open.Stack, th.open.Timeout = ev.Lock, ev.Peer, ev.Stack, ev.Arg
	th.open.Wait = t.waits.Wait(&th.open)
}

// call begins a wait in a system call, which the event reports once it has lasted for a while.
func (t *Timeline) call(th *Thread, ev *jvmthread.Event) {
	first := th.open.State == jvmthread.StateUnknown
	t.to(th, jvmthread.StateParked, ev.Time)
	th.open.Lock, th.open.Stack = ev.Lock, ev.Stack
	th.open.Wait = t.waits.Wait(&th.open)
	th.open.Marks = jvmthread.MarkSeen
	if first {
		th.open.Marks |= jvmthread.MarkPartial
	}
}

// stops is the state that begins with an event.
var stops = [jvmthread.NumKinds]jvmthread.State{
	jvmthread.KindWait:       jvmthread.StateWaiting,
	jvmthread.KindJoinStart:  jvmthread.StateJoining,
	jvmthread.KindSleepStart: jvmthread.StateSleeping,
	jvmthread.KindPark:       jvmthread.StateParked,
}

// suspend suspends the peer of the event, or resumes its previous state.
func (t *Timeline) suspend(ev *jvmthread.Event) {
	th := t.Thread(ev.Peer)
	if th == nil || th.dead || (th.open.State == jvmthread.StateSuspended) == (ev.Kind == jvmthread.KindSuspend) {
		return
	}
	if ev.Kind == jvmthread.KindSuspend {
		th.known().under = th.open
		t.to(th, jvmthread.StateSuspended, ev.Time)
		th.open.Wait = jvmthread.WaitSuspend
		return
	}
	u := th.known().under
	if u.State == jvmthread.StateDeadlocked {
		u.State = u.Was // the suspension ended the deadlock
	}
	t.to(th, u.State, ev.Time) // the owner of the lock may have changed meanwhile
	th.open.Lock, th.open.Peer, th.open.Stack, th.open.Timeout = u.Lock, u.Peer, u.Stack, max(0, u.Timeout)
	th.open.Wait = u.Wait
}

// gap sets all threads to unknown.
func (t *Timeline) gap(at jvmthread.Time) {
	t.carriers.clear()
	for _, th := range t.threads {
		if th.dead || th.open.State == jvmthread.StateUnknown {
			continue
		}
		th.inWait, th.on = false, carriage{}
		th.forget()
		t.to(th, jvmthread.StateUnknown, at)
		th.open.Marks = jvmthread.MarkPartial
	}
}
