// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// beginState adds the events with which a state begins. The state before has ended.
func (s *session) beginState(th *thread, p *piece) {
	at := p.start
	switch p.state { //exhaustive:enforce
	case jvmthread.StateRunnable:
		switch {
		case p.linked == startLink && th.fresh():
			s.start(th, at)
		case !th.running: // a snapshot would find this
			s.emit(th, jvmthread.Event{Kind: jvmthread.KindSleepEnd, Time: at, Flags: jvmthread.FlagSnapshot})
		}
		if p.hasCPU {
			s.read(th, at)
		}
		th.running = true
		return
	case jvmthread.StateUnknown, jvmthread.StateSuspended, jvmthread.StateDead:
		if !th.fresh() {
			s.emit(th, jvmthread.Event{Kind: jvmthread.KindGap, Time: at})
		}
		th.running, th.inWait = false, false
		return
	case jvmthread.StateReentering:
		if !th.inWait {
			s.emit(th, jvmthread.Event{Kind: jvmthread.KindWaited, Time: at, Lock: p.lock})
			th.inWait, th.joined = true, p.peer
		}
		return
	case jvmthread.StateQueued: // begins with the call that made the thread ready
		p.took = th.running || th.fresh() && s.target(p.link) == jvmthread.NoThread
		if p.took {
			s.folded.queued++
		}
		return
	case jvmthread.StateBlocked, jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateSleeping, jvmthread.StateParked,
		jvmthread.StateDeadlocked:
	}
	ev := jvmthread.Event{Kind: s.begins(p), Time: at, Lock: p.lock, Peer: p.peer, Arg: p.timeout, Stack: p.stack}
	p.state, p.deadlocked = ev.Kind.State(), p.state == jvmthread.StateDeadlocked
	if p.partial {
		ev.Flags |= jvmthread.FlagSnapshot
	}
	switch ev.Kind {
	case jvmthread.KindContendedEnter, jvmthread.KindPark:
		ev.Peer = s.owner(p)
	case jvmthread.KindSleepStart, jvmthread.KindWait:
		ev.Peer = jvmthread.NoThread
	}
	switch ev.Kind {
	case jvmthread.KindContendedEnter:
		ev.Arg = 0
	case jvmthread.KindSleepStart:
		ev.Lock = jvmthread.NoLock
	case jvmthread.KindPark:
		if p.pinned {
			ev.Flags |= jvmthread.FlagPinned
		}
	}
	context := jvmthread.SpanContext{}
	if p.more != nil {
		context = p.more.context
	}
	if context != th.context {
		th.context = context
		s.emit(th, jvmthread.Event{Kind: jvmthread.KindContext, Time: at, Span: context})
	}
	s.emit(th, ev)
	s.describeOwner(th, p, ev.Peer)
	th.running = false
}

// begins returns the kind of event that begins a wait.
func (s *session) begins(p *piece) jvmthread.Kind {
	switch p.state {
	case jvmthread.StateWaiting:
		return jvmthread.KindWait
	case jvmthread.StateJoining:
		return jvmthread.KindJoinStart
	case jvmthread.StateSleeping:
		return jvmthread.KindSleepStart
	case jvmthread.StateParked:
		return jvmthread.KindPark
	case jvmthread.StateDeadlocked: // the state before has no span
		if top, _, _ := strings.Cut(s.Options.Symbols.Stack(p.stack), "\n"); strings.Contains(top, ".park(") {
			return jvmthread.KindPark
		}
	}
	return jvmthread.KindContendedEnter
}

// owner returns the thread that owned the lock when a wait began: the one that a span names, the next one in a deadlock, or the only thread
// with the name of the one that held the lock longest.
func (s *session) owner(p *piece) jvmthread.ThreadID {
	if p.peer != jvmthread.NoThread {
		return p.peer
	}
	id := s.owners[waitKey{p.thread, p.waitBegan}]
	if n := s.byName[p.holder]; id == jvmthread.NoThread && p.holder != "" {
		id = n.only()
		if id == jvmthread.NoThread && p.state == jvmthread.StateParked { // only an owner shows that the thread waits for a lock
			if id = n[0]; id == p.thread {
				id = n[1]
			}
		}
	}
	if id == p.thread {
		return jvmthread.NoThread
	}
	return id
}

// describeOwner adds what a span says of the owner of the lock when the wait began.
func (s *session) describeOwner(th *thread, p *piece, owner jvmthread.ThreadID) {
	var m more
	if p.more != nil {
		m = *p.more
	}
	if m.ownerStack != jvmthread.NoStack {
		s.emit(th, jvmthread.Event{Kind: jvmthread.KindOwnerStack, Time: p.start, Peer: owner, Lock: p.lock, Stack: m.ownerStack})
	}
	if of := s.threads[owner]; !m.ownerContext.IsZero() || of != nil && !of.context.IsZero() {
		s.emit(th, jvmthread.Event{Kind: jvmthread.KindOwnerContext, Time: p.start, Span: m.ownerContext})
	}
}

// closeState adds the events with which the current state of a thread ends. Next is the state after it, nil if none is known.
func (s *session) closeState(th *thread, next *piece) {
	p := &th.now
	at := p.end
	if p.open && next != nil && next.window != nil { // its last part has no span
		at = min(max(at, next.window.start), next.start)
	}
	follows := jvmthread.StateDead
	if next != nil && next.start == at {
		follows = next.state
	}
	th.has = false
	if follows == jvmthread.StateUnknown || follows == jvmthread.StateSuspended { // which ends this state
		return
	}
	end := jvmthread.Event{Time: at, Lock: p.lock}
	if p.pinned && p.state != jvmthread.StateParked {
		end.Flags |= jvmthread.FlagPinned
	}
	by := jvmthread.NoThread
	if p.exact && p.linked != noLink {
		by = s.target(p.link)
	}
	if p.interrupted {
		switch p.state {
		case jvmthread.StateReentering, jvmthread.StateSleeping:
			end.Flags |= jvmthread.FlagInterrupted
		}
	}
	switch p.state { //exhaustive:enforce
	case jvmthread.StateUnknown, jvmthread.StateSuspended, jvmthread.StateDead:
		return
	case jvmthread.StateRunnable:
		if p.hasCPU {
			th.cpu, th.queue = th.cpu+max(0, p.timeout), th.queue+p.runQueue
			s.read(th, at)
		}
		return
	case jvmthread.StateBlocked, jvmthread.StateDeadlocked:
		end.Kind = jvmthread.KindContendedEntered
		if p.linked == handoffLink {
			end.Peer = by
		}
		s.emit(th, end)
		switch {
		case !th.inWait:
			th.running = true
		case follows != jvmthread.StateReentering:
			end.Flags &^= jvmthread.FlagPinned
			s.returned(th, end)
		}
	case jvmthread.StateWaiting, jvmthread.StateJoining:
		if next != nil && next.state == jvmthread.StateBlocked && next.lock == p.lock && next.start-at < shortReenter {
			follows = jvmthread.StateReentering // which has no span if it is short
		}
		s.leaveWaitSet(th, end, by, follows)
	case jvmthread.StateReentering:
		if follows != jvmthread.StateBlocked {
			s.returned(th, end)
		}
	case jvmthread.StateSleeping:
		end.Kind, end.Lock = jvmthread.KindSleepEnd, jvmthread.NoLock
		s.emit(th, end)
		th.running = true
	case jvmthread.StateParked:
		if follows == jvmthread.StateQueued && th.def.Virtual && p.latency == 0 && p.linked != noLink && s.target(p.link) != jvmthread.NoThread {
			return // the call was the end
		}
		end.Kind, end.Lock = jvmthread.KindUnparked, jvmthread.NoLock
		s.emit(th, end)
		th.running = true
	case jvmthread.StateQueued:
		if p.took {
			return
		}
		end.Kind, end.Lock = jvmthread.KindUnparked, jvmthread.NoLock
		if p.linked == startLink {
			end.Kind = jvmthread.KindThreadStart
		}
		s.emit(th, end)
		th.running = true
	}
}

// shortReenter is how long a thread may reenter without a span, see window.FoldMinor.
const shortReenter = 100_000

// leaveWaitSet ends the state of a thread in a wait set. If it owns the monitor again at once, the wait returns.
func (s *session) leaveWaitSet(th *thread, end jvmthread.Event, by jvmthread.ThreadID, follows jvmthread.State) {
	p := &th.now
	end.Kind = jvmthread.KindWaited
	if p.timedOut {
		end.Flags |= jvmthread.FlagTimedOut
	}
	if p.linked == notifyLink || p.linked == joinLink {
		end.Peer = by
	}
	s.emit(th, end)
	th.inWait, th.joined = true, jvmthread.NoThread
	if p.state == jvmthread.StateJoining {
		th.joined = p.peer
	}
	if follows != jvmthread.StateReentering {
		if p.interrupted {
			end.Flags |= jvmthread.FlagInterrupted
		}
		s.returned(th, end)
	}
}

// returned ends a wait or a join.
func (s *session) returned(th *thread, end jvmthread.Event) {
	end.Kind, end.Peer = jvmthread.KindWaitReturned, jvmthread.NoThread
	if th.joined != jvmthread.NoThread {
		end.Kind, end.Peer = jvmthread.KindJoinEnd, th.joined
	}
	end.Flags &^= jvmthread.FlagTimedOut
	s.emit(th, end)
	th.inWait, th.joined, th.running = false, jvmthread.NoThread, true
}
