// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"fmt"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wording"
)

// thread is the progress of a thread through its states.
type thread struct {
	def     jvmthread.Thread
	now     piece // the state that has not ended yet, if has
	has     bool
	listed  bool               // in session.active
	running bool               // known to run, unless has
	inWait  bool               // it left a wait set, and the wait has not returned
	joined  jvmthread.ThreadID // of that wait
	begins  jvmthread.Time     // when its life begins, which no event says yet; NoTime: not known
	virtual bool               // a state shows that it is
	seen    bool               // it had a state
	defined bool
	ended   bool
	context jvmthread.SpanContext // of the application
	cpu     int64                 // CPU time in the spans so far
	queue   int64                 // the same of the time that it waited for a processor
}

// shown is the name of the thread in spans.
func (t *thread) shown() string { return wording.ThreadName(t.def.Name, t.def.ID) }

// fresh reports whether the thread had no state so far.
func (t *thread) fresh() bool { return t != nil && !t.seen && !t.running }

// thread returns a thread, nil if there are too many.
func (s *session) thread(def *jvmthread.Thread) *thread {
	th := s.threads[def.ID]
	if th == nil {
		if len(s.threads) >= recording.MaxThreads {
			if !s.crowded {
				s.crowded = true
				p := s.at
				p.What, p.Remedy = fmt.Sprintf("the session has more than %d threads; spans of further ones are skipped", recording.MaxThreads), "split the file by time"
				s.Problem(p)
			}
			return nil
		}
		th = &thread{def: jvmthread.Thread{ID: def.ID}}
		s.threads[def.ID] = th
	}
	return th
}

// define notes what spans say of a thread.
func (s *session) define(th *thread, def *jvmthread.Thread) {
	next := *def
	next.Name, next.Group = recording.Valid([]byte(def.Name)), recording.Valid([]byte(def.Group))
	next.Virtual = next.Virtual || th.virtual
	if next.Name == wording.ThreadName("", def.ID) { // it has none
		next.Name = ""
	}
	if th.defined && next == th.def {
		return
	}
	th.defined = true
	th.def = next
	if shown := th.shown(); len(s.byName) < 2*recording.MaxThreads {
		switch n := s.byName[shown]; {
		case n[0] == jvmthread.NoThread:
			s.byName[shown] = namesakes{next.ID}
		case n[0] != next.ID && n[1] == jvmthread.NoThread:
			s.byName[shown] = namesakes{n[0], next.ID}
		}
	}
	s.news = append(s.news, next)
}

// emit adds an event of a thread.
func (s *session) emit(th *thread, ev jvmthread.Event) {
	ev.Thread = th.def.ID
	ev.Time = max(ev.Time, s.floor)
	if th.def.Virtual {
		ev.Flags |= jvmthread.FlagVirtual
	}
	s.events = append(s.events, ev)
}

// read adds a reading of the thread's clocks.
func (s *session) read(th *thread, at jvmthread.Time) {
	s.emit(th, jvmthread.Event{Kind: jvmthread.KindRunQueue, Time: at, Arg: th.queue})
	s.emit(th, jvmthread.Event{Kind: jvmthread.KindCPU, Time: at, Arg: th.cpu})
}

// start begins the life of a thread.
func (s *session) start(th *thread, at jvmthread.Time) {
	s.emit(th, jvmthread.Event{Kind: jvmthread.KindThreadStart, Time: at})
	th.running, th.begins = true, jvmthread.NoTime
}

// finished ends the life of a thread.
func (s *session) finished(th *thread, at jvmthread.Time) {
	if th == nil || th.ended || th.has && (th.now.open || th.now.end > at) {
		return
	}
	if th.begins != jvmthread.NoTime {
		s.start(th, th.begins)
	}
	if th.has && !th.now.deadlocked { // else it ended in the deadlock
		s.closeState(th, nil)
	}
	th.has = false
	s.emit(th, jvmthread.Event{Kind: jvmthread.KindThreadEnd, Time: at})
	th.ended, th.running = true, false
}

// state takes the next state of a thread, or the next part of the same one.
func (s *session) state(th *thread, p *piece) {
	if th == nil || th.ended {
		return
	}
	if th.has && p.start < th.now.end {
		if !s.overlap {
			s.overlap = true
			at := s.at
			at.What = fmt.Sprintf("spans of thread %d overlap; the later ones are skipped", th.def.ID)
			at.Remedy = "read the spans of each session from one file, once"
			s.Problem(at)
		}
		return
	}
	if th.has && continues(&th.now, p) {
		now := &th.now
		now.end, now.open, now.timedOut, now.interrupted, now.pinned = p.end, p.open, p.timedOut, p.interrupted, now.pinned || p.pinned
		now.deadlocked = p.state == jvmthread.StateDeadlocked
		now.linked, now.exact, now.latency = p.linked, p.exact, p.latency
		if p.linked != noLink {
			now.link = p.link
		}
		now.timeout, now.runQueue = now.timeout+p.cpu(), now.runQueue+p.runQueue
		s.list(th)
		return
	}
	if th.has {
		s.closeState(th, p)
	}
	if th.begins != jvmthread.NoTime {
		if p.state != jvmthread.StateQueued || p.start != th.begins { // a virtual thread that starts waits for a carrier
			s.start(th, th.begins)
		}
		th.begins = jvmthread.NoTime
	}
	s.beginState(th, p)
	th.now, th.has, th.seen = *p, true, true
	s.list(th)
}

func (p *piece) cpu() int64 {
	if p.hasCPU {
		return p.timeout
	}
	return 0
}

func (s *session) list(th *thread) {
	if !th.listed {
		th.listed = true
		s.active = append(s.active, th)
	}
}

// continues reports whether two spans show parts of one state, or of one wait that became part of a deadlock.
func continues(a, b *piece) bool {
	if onLock(a.state) && onLock(b.state) {
		return b.continues && a.waitBegan == b.waitBegan && a.lock == b.lock
	}
	return b.continues && a.state == b.state && a.began == b.began
}

// onLock reports whether a thread in a state may become deadlocked.
func onLock(s jvmthread.State) bool {
	return s == jvmthread.StateBlocked || s == jvmthread.StateParked || s == jvmthread.StateDeadlocked
}

// call adds a call that a link or an event of a span shows, once.
func (s *session) call(p *piece) {
	id := p.thread
	if !p.direct {
		id = s.target(p.link)
	}
	th := s.threads[id]
	if th == nil || id == p.peer && !p.direct || th.ended {
		return
	}
	ev := jvmthread.Event{Kind: p.call, Time: p.start, Peer: p.peer, Lock: p.lock}
	switch p.call {
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		ev.Peer = jvmthread.NoThread
	default:
		ev.Lock = jvmthread.NoLock
		if peer := s.threads[p.peer]; peer != nil && peer.def.Virtual && p.latency == 0 && !p.direct {
			ev.Flags |= jvmthread.FlagVirtualPeer
		}
	}
	if p.latency == 0 && !p.direct && ev.Flags == 0 { // events of one time have no order
		ev.Time--
	}
	if len(s.calls) > 0 && s.calls[0].Time != ev.Time {
		s.calls = s.calls[:0]
	}
	ev.Thread = id
	if slices.Contains(s.calls, ev) {
		return
	}
	if len(s.calls) < maxCalls {
		s.calls = append(s.calls, ev)
	}
	s.emit(th, ev)
}

// maxCalls bounds the calls of one time that are compared.
const maxCalls = 64
