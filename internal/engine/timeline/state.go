// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// State is all that later events depend on, in a form that can be stored.
type State struct {
	Begin    jvmthread.Time
	Begun    bool
	Threads  []ThreadState
	Carriers []CarrierState
}

// CarrierState is a carrier and the virtual thread on it, or NoThread.
type CarrierState struct{ Carrier, Carried jvmthread.ThreadID }

// ThreadState is the state of one thread. The fields are those of Thread.
type ThreadState struct {
	Open      jvmthread.Interval
	LastRun   Run
	LastSeen  jvmthread.Time
	Virtual   bool
	Carrier   jvmthread.ThreadID
	Mounted   jvmthread.Time
	Left      bool
	Yielded   bool
	Ready     bool
	InWait    bool
	WaitStack jvmthread.StackID
	WaitPeer  jvmthread.ThreadID
	Dead      bool
	More      *MoreState
}

// MoreState is what only some agents report.
type MoreState struct {
	Detail  jvmthread.Detail
	Current jvmthread.SpanContext
	Reading Reading
	Under   jvmthread.Interval
}

// State returns a copy of the current state.
func (t *Timeline) State() State {
	s := State{Begin: t.begin, Begun: t.begun, Threads: make([]ThreadState, 0, len(t.threads))}
	for _, th := range t.threads {
		saved := ThreadState{
			Open: th.open, LastRun: th.lastRun, LastSeen: th.lastSeen, Virtual: th.virtual, InWait: th.inWait,
			Carrier: th.on.carrier, Mounted: th.on.since, Left: th.on.left, Yielded: th.on.yielded, Ready: th.on.ready,
			WaitStack: th.waitStack, WaitPeer: th.waitPeer, Dead: th.dead,
		}
		if m := th.more; m != nil {
			saved.More = &MoreState{Detail: m.detail, Current: m.current, Reading: m.reading, Under: m.under}
		}
		s.Threads = append(s.Threads, saved)
	}
	for carrier, carried := range t.Carriers {
		s.Carriers = append(s.Carriers, CarrierState{carrier, carried})
	}
	return s
}

// Restore continues from a state. Nothing was applied yet.
func (t *Timeline) Restore(s *State) {
	t.begin, t.begun = s.Begin, s.Begun
	for i := range s.Threads {
		if len(t.threads) >= t.maxThreads {
			t.counters.Refused++
			continue
		}
		saved := &s.Threads[i]
		th := &Thread{
			open: saved.Open, lastRun: saved.LastRun, lastSeen: saved.LastSeen, slot: t.slots, virtual: saved.Virtual, inWait: saved.InWait,
			waitStack: saved.WaitStack, waitPeer: saved.WaitPeer, dead: saved.Dead,
			on: carriage{carrier: saved.Carrier, since: saved.Mounted, left: saved.Left, yielded: saved.Yielded, ready: saved.Ready},
		}
		t.slots++
		if m := saved.More; m != nil {
			th.more = &more{detail: m.Detail, current: m.Current, reading: m.Reading, under: m.Under}
		}
		t.threads[saved.Open.Thread] = th
	}
	for _, c := range s.Carriers {
		t.carry(c.Carrier, c.Carried)
	}
}

// Symbols calls the functions for each class and stack that the state refers to. They may replace it.
func (s *State) Symbols(class func(*jvmthread.ClassID), stack func(*jvmthread.StackID)) {
	for i := range s.Threads {
		th := &s.Threads[i]
		class(&th.Open.Lock.Class)
		stack(&th.Open.Stack)
		stack(&th.WaitStack)
		if m := th.More; m != nil {
			stack(&m.Detail.OwnerStack)
			class(&m.Under.Lock.Class)
			stack(&m.Under.Stack)
		}
	}
}
