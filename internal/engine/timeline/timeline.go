// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package timeline turns the events of one session, in the order of time, into intervals: the state of each thread at each time. The
// intervals of a thread tile its life.
//
// Inconsistent history does not stop it: it counts the event, marks the interval as unknown and continues from the event. It has no clock
// and no locks; one goroutine owns a Timeline.
package timeline

import (
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxThreads bounds the concurrently followed threads of a session.
const DefaultMaxThreads = 1 << 17

// Counters are the anomalies of a timeline.
type Counters struct {
	Inconsistent uint64 // events that did not fit the state of their thread
	AfterEnd     uint64 // events of threads that had ended
	Refused      uint64 // events of threads over the limit
}

// Timeline follows the threads of one session.
type Timeline struct {
	threads    map[jvmthread.ThreadID]*Thread
	carriers   carriers
	recent     recent.Cache[jvmthread.ThreadID, *Thread]
	begin      jvmthread.Time // of history
	begun      bool
	maxThreads int
	free       []int // slots of threads that were forgotten
	slots      int
	closed     []jvmthread.Interval // by the current call
	waits      *waits.Classifier    // may be nil
	mounts     []jvmthread.Hold     // long ones that ended
	counters   Counters
}

// Thread is the current state of one thread.
type Thread struct {
	open      jvmthread.Interval // its end is not known yet
	lastRun   Run
	lastSeen  jvmthread.Time // of its last event
	slot      int
	virtual   bool
	on        carriage
	inWait    bool              // between wait and waitReturned, or joinStart and joinEnd
	waitStack jvmthread.StackID // of the waiting or joining interval, while it reenters
	waitPeer  jvmthread.ThreadID
	dead      bool
	more      *more // nil: none
}

// Run identifies an interval in which a thread ran.
type Run struct {
	Seq jvmthread.Seq
	End jvmthread.Time
}

// New returns a Timeline that follows at most maxThreads threads. The classifier finds what they wait for; nil: by state only.
func New(maxThreads int, classifier *waits.Classifier) *Timeline {
	return &Timeline{threads: make(map[jvmthread.ThreadID]*Thread), maxThreads: maxThreads, waits: classifier}
}

// Open returns the thread's current interval, for reading only. Its End is not set; its state is dead for a thread that has ended. The
// thread's next event may overwrite it.
func (t *Thread) Open() *jvmthread.Interval { return &t.open }

// LastRun returns the last closed interval in which the thread ran. Seq is NoSeq if there is none.
func (t *Thread) LastRun() Run { return t.lastRun }

// Slot returns a small number for tables indexed by thread. It is unique among the threads that the Timeline knows.
func (t *Thread) Slot() int { return t.slot }

// Piece returns the open interval up to a time that is not before any event, marked as open. The thread continues in the same interval,
// with the same number.
func (t *Thread) Piece(at jvmthread.Time) jvmthread.Interval {
	iv := t.open
	iv.End = at
	iv.Marks |= jvmthread.MarkOpen
	if t.Pinned() {
		iv.Marks |= jvmthread.MarkPinned
	}
	return iv
}

// Dead reports whether the thread has ended; Open().Start is when.
func (t *Thread) Dead() bool { return t.dead }

// LastSeen returns the time of the thread's last event.
func (t *Thread) LastSeen() jvmthread.Time { return t.lastSeen }

// Thread returns the state of a thread, or nil if the thread is unknown.
func (t *Timeline) Thread(id jvmthread.ThreadID) *Thread {
	if th := t.recent.Get(uint32(id), id); th != nil {
		return th
	}
	return t.find(id)
}

func (t *Timeline) find(id jvmthread.ThreadID) *Thread {
	th := t.threads[id]
	t.recent.Put(uint32(id), id, th)
	return th
}

// Threads calls yield for each thread, in no particular order.
func (t *Timeline) Threads(yield func(*Thread) bool) {
	for _, th := range t.threads {
		if !yield(th) {
			return
		}
	}
}

// Len returns the number of known threads.
func (t *Timeline) Len() int { return len(t.threads) }

// Counters returns the anomalies so far.
func (t *Timeline) Counters() Counters { return t.counters }

// Apply applies an event and returns the intervals that it ends: at most one of its thread and, for kinds that act on it, one of the peer. A
// gap of all threads (event of NoThread) ends one interval of each. They are valid until the next call. Times of events must not fall.
// Apply also returns the thread, which is nil for such a gap. It returns false if the event has no effect: its thread has ended or is over
// the limit, or a snapshot shows a state that is already known.
func (t *Timeline) Apply(ev *jvmthread.Event) (closed []jvmthread.Interval, th *Thread, ok bool) {
	t.closed = t.closed[:0]
	th, ok = t.apply(ev)
	return t.closed, th, ok
}

func (t *Timeline) apply(ev *jvmthread.Event) (th *Thread, ok bool) {
	if !t.begun {
		t.begin, t.begun = ev.Time, true
	}
	if ev.Thread == jvmthread.NoThread {
		if ev.Kind == jvmthread.KindGap {
			t.gap(ev.Time)
			return nil, true
		}
		t.counters.Inconsistent++
		return nil, false
	}
	if ev.Peer != jvmthread.NoThread && culprits&(1<<ev.Kind) != 0 {
		t.hear(ev)
	}
	th = t.Thread(ev.Thread)
	if th == nil {
		if th = t.enter(ev); th == nil {
			return nil, false
		}
		if ev.Kind == jvmthread.KindThreadStart {
			return th, true
		}
	}
	if th.dead {
		t.counters.AfterEnd++
		return th, false
	}
	th.lastSeen = max(th.lastSeen, ev.Time)
	th.virtual = th.virtual || ev.Flags&jvmthread.FlagVirtual != 0
	if !ev.Kind.Valid() {
		return th, false
	}
	if ev.Flags&jvmthread.FlagSnapshot != 0 {
		return th, t.found(th, ev)
	}
	pins := ev.Flags&jvmthread.FlagPinned != 0
	if pins && ev.Kind != jvmthread.KindPark && th.open.State.Stopped() {
		th.open.Marks |= jvmthread.MarkPinned
	}
	t.advance(th, ev)
	if pins && ev.Kind == jvmthread.KindPark {
		th.open.Marks |= jvmthread.MarkPinned
	}
	t.describe(th, ev)
	switch {
	case ev.Kind == jvmthread.KindSuspend || ev.Kind == jvmthread.KindResume:
		t.suspend(ev)
	case ev.Kind == jvmthread.KindYield:
		th.on.yielded = th.on.carrier != jvmthread.NoThread
	case ev.MakesReady():
		t.ready(ev)
	}
	return th, true
}

// culprits are the kinds of events whose peer is a thread that made this one wait, unblocked it or started it.
const culprits = 1<<jvmthread.KindContendedEnter | 1<<jvmthread.KindContendedEntered | 1<<jvmthread.KindPark | 1<<jvmthread.KindWaited |
	1<<jvmthread.KindThreadStart

// hear begins to follow the peer of an event, in an unknown state. In some recordings it never has an event of its own.
func (t *Timeline) hear(ev *jvmthread.Event) {
	if t.Thread(ev.Peer) == nil {
		t.enter(&jvmthread.Event{Time: ev.Time, Thread: ev.Peer})
	}
}

// enter begins to follow a thread. Unless it is just starting, its state since the beginning of history is unknown.
func (t *Timeline) enter(ev *jvmthread.Event) *Thread {
	if len(t.threads) >= t.maxThreads {
		t.counters.Refused++
		return nil
	}
	th := &Thread{lastSeen: ev.Time, slot: t.slots}
	if n := len(t.free); n > 0 {
		th.slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		t.slots++
	}
	th.open = jvmthread.Interval{Thread: ev.Thread, Seq: 1, Start: t.begin, State: jvmthread.StateUnknown, Marks: jvmthread.MarkPartial}
	if ev.Kind == jvmthread.KindThreadStart {
		th.open = jvmthread.Interval{Thread: ev.Thread, Seq: 1, Start: ev.Time, State: jvmthread.StateRunnable}
	}
	t.threads[ev.Thread] = th
	return th
}

// to closes the thread's open interval and opens one in the given state.
func (t *Timeline) to(th *Thread, s jvmthread.State, at jvmthread.Time) {
	if th.open.State == jvmthread.StateRunnable || th.open.State == jvmthread.StateUnknown || th.open.Marks.Has(jvmthread.MarkSeen) {
		th.lastRun = Run{th.open.Seq, at}
	}
	th.on.left, th.on.yielded, th.on.ready = false, false, false
	t.closed = append(t.closed, th.open)
	t.closed[len(t.closed)-1].End = at // not before, as CPUs wait to copy what was written a moment ago in smaller parts
	th.open = jvmthread.Interval{Thread: th.open.Thread, Seq: th.open.Seq + 1, Start: at, State: s}
	if m := th.more; m != nil {
		m.runs(&t.closed[len(t.closed)-1], at)
		m.closed, m.detail = m.detail, jvmthread.Detail{}
		if s.Stopped() {
			m.detail.Span = m.current
		}
	}
}

// Deadlock splits the thread's blocked or parked interval at the given time: it returns the first part, valid until the next call, and the
// thread is deadlocked from there on.
func (t *Timeline) Deadlock(id jvmthread.ThreadID, cycle jvmthread.Cycle, at jvmthread.Time) []jvmthread.Interval {
	th := t.Thread(id)
	if th == nil || th.dead {
		return nil
	}
	before := th.open.State
	th.open.Cycle = cycle
	t.split(th, jvmthread.StateDeadlocked, max(at, th.open.Start))
	th.open.Cycle, th.open.Was = cycle, before
	return t.closed
}

// Freed splits the thread's deadlocked interval at the given time, since another thread has left the cycle: it returns the first part, valid
// until the next call, and the thread is blocked or parked again. It returns nothing if the thread is not in that deadlock.
func (t *Timeline) Freed(id jvmthread.ThreadID, cycle jvmthread.Cycle, at jvmthread.Time) []jvmthread.Interval {
	th := t.Thread(id)
	if th == nil || th.open.State != jvmthread.StateDeadlocked || th.open.Cycle != cycle {
		return nil
	}
	t.split(th, th.open.Was, at)
	return t.closed
}

// split ends the open interval in the middle of a wait, which continues in the given state.
func (t *Timeline) split(th *Thread, s jvmthread.State, at jvmthread.Time) {
	th.open.Marks |= jvmthread.MarkWillContinue
	was := th.open
	t.closed = t.closed[:0]
	t.to(th, s, at)
	if m := th.more; m != nil {
		m.detail = m.closed
	}
	th.open.Lock, th.open.Peer, th.open.Stack, th.open.Wait = was.Lock, was.Peer, was.Stack, was.Wait
	th.open.Marks, th.open.Timeout = jvmthread.MarkContinues, int64(was.Began()-at)
}

// Forget drops the threads that ended before the given time. It also drops running and unknown threads without events since silent that
// may have ended unseen: virtual threads, whose end some agents do not see, and any thread if there are many. If such a thread has another
// event, its state before that is unknown.
func (t *Timeline) Forget(before, silent jvmthread.Time) {
	forgotten := false
	for id, th := range t.threads {
		running := th.open.State == jvmthread.StateRunnable || th.open.State == jvmthread.StateUnknown
		unheard := running && th.lastSeen < silent && (th.virtual || len(t.threads) > t.maxThreads/2)
		if th.dead && th.open.Start < before || unheard {
			delete(t.threads, id)
			t.free = append(t.free, th.slot)
			forgotten = true
		}
	}
	if forgotten {
		t.recent.Clear()
	}
}
