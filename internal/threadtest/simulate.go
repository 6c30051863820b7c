// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"math/rand/v2"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Truth is an interaction that really happened in a simulated program.
type Truth struct {
	Kind     jvmthread.InteractionKind
	From, To jvmthread.ThreadID
	At       jvmthread.Time // of the effect
	Lock     jvmthread.LockID
}

// Tenure is the time during which a simulated thread really owned a lock.
type Tenure struct {
	Lock     jvmthread.LockID
	Thread   jvmthread.ThreadID
	Got      jvmthread.Time
	Released jvmthread.Time // NoTime: not yet
	Reported jvmthread.Time // when the thread reported its ownership; NoTime: never
}

// Step is a change of state of a simulated thread.
type Step struct {
	At    jvmthread.Time
	State jvmthread.State
}

// Simulation is a run of a random program in a simulated JVM: the events that its agent would send, and what really happened.
type Simulation struct {
	Events  []jvmthread.Event
	Truth   []Truth
	Tenures []Tenure // in the order of Got
	Steps   map[jvmthread.ThreadID][]Step

	rng     *rand.Rand
	now     jvmthread.Time
	threads []*simThread
	locks   []*simLock
	timers  []timer
}

type simThread struct {
	id      jvmthread.ThreadID
	runs    bool // can act
	permit  bool // from an unpark while it was not parked
	parked  bool
	wants   *simLock // of java.util.concurrent, for which it is parked
	waking  bool     // was unparked, but has not reported it yet
	sleeps  bool
	waitsOn *simLock // in its wait set
	// interrupted is set once an interrupt is about to end the thread's wait or sleep, so nothing else may end it.
	interrupted bool
	started     bool
	dead        bool
	held        []*simLock // ascending, to rule out deadlocks
	joiners     []*simThread
	nap         int // number of waits and sleeps, to ignore timers of earlier ones
}

type simLock struct {
	id    jvmthread.LockID
	juc   bool // of java.util.concurrent, not a monitor
	owner *simThread
	held  int // index of the owner's tenure
	queue []*queued
	waits []*simThread
}

// queued is a thread in the queue of a lock. A monitor has a continuation for when the thread owns it.
type queued struct {
	thread  *simThread
	granted func(giver *simThread)
}

type timer struct {
	at   jvmthread.Time
	fire func()
}

// Simulate runs a random program with the given numbers of threads, locks and actions. Locks of class 3 are of java.util.concurrent.
func Simulate(seed uint64, threads, locks, actions int) *Simulation {
	s := &Simulation{rng: rand.New(rand.NewPCG(seed, 1)), now: 1000, Steps: make(map[jvmthread.ThreadID][]Step)}
	for i := range locks {
		class := 1 + jvmthread.ClassID(i)%3
		s.locks = append(s.locks, &simLock{id: jvmthread.LockID{Class: class, Hash: uint32(i + 1)}, juc: class == 3})
	}
	for i := range threads {
		s.threads = append(s.threads, &simThread{id: jvmthread.ThreadID(i + 1)})
	}
	first := s.threads[0]
	first.runs, first.started = true, true
	s.emit(first, jvmthread.Event{Kind: jvmthread.KindThreadStart})
	s.state(first, jvmthread.StateRunnable)
	for range actions {
		s.step()
	}
	for len(s.timers) > 0 {
		s.fire()
	}
	return s
}

// tick advances the time, so no two events have the same time.
func (s *Simulation) tick() { s.now += 1 + jvmthread.Time(s.rng.IntN(20)) }

func (s *Simulation) emit(t *simThread, ev jvmthread.Event) {
	s.tick()
	ev.Time, ev.Thread = s.now, t.id
	s.Events = append(s.Events, ev)
}

// state records that a thread changes its state now.
func (s *Simulation) state(t *simThread, st jvmthread.State) {
	s.Steps[t.id] = append(s.Steps[t.id], Step{s.now, st})
}

// grant makes a thread the owner of a lock, reported or not.
func (s *Simulation) grant(t *simThread, l *simLock) {
	l.owner, l.held = t, len(s.Tenures)
	s.Tenures = append(s.Tenures, Tenure{Lock: l.id, Thread: t.id, Got: s.now})
	t.held = append(t.held, l)
}

// report records that the owner has just reported its ownership.
func (s *Simulation) report(l *simLock) { s.Tenures[l.held].Reported = s.now }

func (s *Simulation) truth(kind jvmthread.InteractionKind, from, to *simThread, lock jvmthread.LockID) {
	s.Truth = append(s.Truth, Truth{kind, from.id, to.id, s.now, lock})
}

func (s *Simulation) after(d int, fire func()) {
	t := timer{s.now + 1 + jvmthread.Time(s.rng.IntN(d)), fire}
	i, _ := slices.BinarySearchFunc(s.timers, t.at, func(t timer, at jvmthread.Time) int { return int(t.at - at) })
	s.timers = slices.Insert(s.timers, i, t)
}

func (s *Simulation) fire() {
	t := s.timers[0]
	s.timers = s.timers[1:]
	s.now = max(s.now, t.at)
	t.fire()
}

func (s *Simulation) step() {
	var able []*simThread
	for _, t := range s.threads {
		if t.runs {
			able = append(able, t)
		}
	}
	if len(s.timers) > 0 && (len(able) == 0 || s.timers[0].at <= s.now || s.rng.IntN(4) == 0) {
		s.fire()
		return
	}
	if len(able) == 0 {
		return
	}
	s.act(able[s.rng.IntN(len(able))])
}

func (s *Simulation) act(t *simThread) {
	l := s.locks[s.rng.IntN(len(s.locks))]
	top := (*simLock)(nil)
	if n := len(t.held); n > 0 {
		top = t.held[n-1]
	}
	switch k := s.rng.IntN(24); {
	case k < 6 && (top == nil || l.id.Hash > top.id.Hash):
		s.enter(t, l)
	case k < 11 && top != nil:
		s.tick()
		s.release(t, top)
	case k < 13 && top != nil && !top.juc:
		s.wait(t, top)
	case k < 15 && top != nil && !top.juc:
		s.notify(t, top, s.rng.IntN(4) == 0)
	case k == 15:
		s.sleep(t)
	case k < 18:
		s.start(t)
	case k == 18 && top == nil && t.id > 1:
		s.join(t)
	case k == 19 && t.id > 1 && s.rng.IntN(10) == 0:
		s.end(t)
	case k == 20 && top == nil && t.id > 1:
		s.park(t)
	case k == 21:
		s.unpark(t)
	case k == 22:
		s.interrupt(t)
	}
}

func (s *Simulation) enter(t *simThread, l *simLock) {
	if l.owner == nil {
		s.grant(t, l)
		return
	}
	if l.juc {
		s.parkFor(t, l)
		l.queue = append(l.queue, &queued{thread: t})
		return
	}
	s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: l.id, Peer: l.owner.id})
	s.state(t, jvmthread.StateBlocked)
	t.runs = false
	l.queue = append(l.queue, &queued{t, func(giver *simThread) {
		s.emit(t, jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: l.id})
		s.state(t, jvmthread.StateRunnable)
		s.report(l)
		s.truth(jvmthread.InteractionHandoff, giver, t, l.id)
		t.runs = true
	}})
}

// release hands the monitor to the first thread in the queue, which reports it a little later.
func (s *Simulation) release(t *simThread, l *simLock) {
	if l.juc {
		s.unlock(t, l)
		return
	}
	t.held = slices.DeleteFunc(t.held, func(h *simLock) bool { return h == l })
	s.Tenures[l.held].Released = s.now
	l.owner = nil
	if len(l.queue) == 0 {
		return
	}
	q := l.queue[0]
	l.queue = l.queue[1:]
	s.grant(q.thread, l)
	s.after(40, func() { q.granted(t) })
}
