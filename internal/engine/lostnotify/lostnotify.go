// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package lostnotify answers: Which notify came while no thread waited, and which threads then waited in vain?
//
// A notify without a waiter is nothing in itself: code that checks its condition before it waits loses nothing by it. It is reported once a
// thread that began to wait for the same object later has timed out, has waited for more than a minute, or still waits when the JVM ends, and no
// notify was heard meanwhile. Where events are missing, nothing is reported rather than something that may be wrong.
package lostnotify

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Limits of what is remembered of a session.
const (
	maxLost    = 4096    // notifies without a waiter; the oldest is forgotten
	maxWaiters = 1 << 16 // threads in wait sets; if there are more, nothing is found any more
	maxWaits   = 16      // of what is reported
)

// A wait counts from a length on, and as one without an end after a minute.
const (
	leastWait = jvmthread.Time(10_000_000)
	tooLong   = jvmthread.Time(60_000_000_000)
)

// Found is a notify without a waiter, and the waits for the same object that began afterwards and were not notified.
type Found struct {
	Lock  jvmthread.LockID
	At    jvmthread.Time // when the last such notify was called
	By    jvmthread.ThreadID
	Stack jvmthread.StackID // where
	All   bool              // it was notifyAll
	Waits []Wait            // in the order in which they began, at most 16
	More  int               // waits that are left out
	End   jvmthread.Time    // until when they waited
	Open  bool              // no wait has timed out: they wait on
}

// Wait is a wait for an object.
type Wait struct {
	Thread     jvmthread.ThreadID
	Start, End jvmthread.Time
	Stack      jvmthread.StackID
	TimedOut   bool // else it was not over at its end
}

// Finder follows the events of one session. One goroutine owns it.
type Finder struct {
	counts   func(*jvmthread.Event) bool
	monitors map[jvmthread.LockID]*monitor
	waiting  map[jvmthread.ThreadID]jvmthread.LockID // in whose wait set a thread is
	order    []entry                                 // lost notifies, the oldest first; some were heard since
	last     uint64                                  // number of the last entry
	lost     int                                     // locks with a lost notify
	found    []Found
	blind    bool // too much is not known
}

// entry is the first of the lost notifies of an object.
type entry struct {
	lock   jvmthread.LockID
	number uint64
}

type monitor struct {
	waiters []waiter // in the order of their waits
	lost    *Found   // nil: the last notify woke a thread, or there was none
	number  uint64   // of its entry
}

type waiter struct {
	thread   jvmthread.ThreadID
	start    jvmthread.Time
	stack    jvmthread.StackID
	notified bool
	counts   bool // it began after the lost notify, and does not wait for a task or its time
}

// New returns a Finder. The function reports whether a wait counts, by the event at its start: not if it is one of the JVM's own threads, or of
// a thread that has nothing to do, like a worker without a task.
func New(counts func(*jvmthread.Event) bool) *Finder {
	f := &Finder{counts: counts}
	f.clear()
	return f
}

func (f *Finder) clear() {
	f.monitors, f.waiting = make(map[jvmthread.LockID]*monitor), make(map[jvmthread.ThreadID]jvmthread.LockID)
	f.order, f.lost = nil, 0
}

// Forget forgets the notifies so far: events are missing.
func (f *Finder) Forget() {
	for _, e := range f.order {
		f.heard(e.lock)
	}
	f.order = nil
}

// Held estimates the bytes that it holds.
func (f *Finder) Held() int {
	const perMonitor, perLost, perWaiter = 120, 120, 90
	return perMonitor*len(f.monitors) + perLost*f.lost + perWaiter*len(f.waiting)
}

// Apply applies the next event, in the order of time.
func (f *Finder) Apply(ev *jvmthread.Event) {
	if f.blind {
		return
	}
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart:
		f.wait(ev)
	case jvmthread.KindWaited:
		f.waited(ev)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		f.leave(ev.Thread)
		f.notify(ev)
	case jvmthread.KindGap:
		f.Forget()
	case jvmthread.KindThreadEnd, jvmthread.KindWaitReturned, jvmthread.KindContendedEnter, jvmthread.KindSleepStart, jvmthread.KindPark:
		f.leave(ev.Thread) // if it was seen to wait, the end of that is missing, except in a wait that returns at once
	default:
	}
}

// leave takes a thread from the wait set that it is in, if any.
func (f *Finder) leave(id jvmthread.ThreadID) {
	lock, ok := f.waiting[id]
	if !ok {
		return
	}
	delete(f.waiting, id)
	m := f.monitors[lock]
	m.waiters = slices.DeleteFunc(m.waiters, func(w waiter) bool { return w.thread == id })
	f.tidy(lock, m)
}

// tidy drops a monitor about which there is nothing to know.
func (f *Finder) tidy(id jvmthread.LockID, m *monitor) {
	if len(m.waiters) == 0 && m.lost == nil {
		delete(f.monitors, id)
	}
}

func (f *Finder) monitor(id jvmthread.LockID) *monitor {
	m := f.monitors[id]
	if m == nil {
		m = &monitor{}
		f.monitors[id] = m
	}
	return m
}

func (f *Finder) wait(ev *jvmthread.Event) {
	f.leave(ev.Thread)
	if ev.Lock.IsZero() {
		return
	}
	if len(f.waiting) >= maxWaiters {
		f.clear()
		f.blind = true
		return
	}
	w := waiter{thread: ev.Thread, start: ev.Time, stack: ev.Stack}
	if ev.Flags&jvmthread.FlagSnapshot != 0 {
		f.heard(ev.Lock) // it may have begun before the notify, which then was not lost
	}
	m := f.monitor(ev.Lock)
	// A thread that notifies others and then waits itself knows about its own notify.
	w.counts = m.lost != nil && m.lost.By != ev.Thread && ev.Kind == jvmthread.KindWait && f.counts(ev)
	m.waiters = append(m.waiters, w)
	f.waiting[ev.Thread] = ev.Lock
}

func (f *Finder) waited(ev *jvmthread.Event) {
	if ev.Flags&jvmthread.FlagLateNotify != 0 {
		f.clear() // whether a notify was lost is not known when it is read
		f.blind = true
		return
	}
	lock, known := f.waiting[ev.Thread]
	if !known {
		f.heard(ev.Lock) // a wait that was not seen to begin: the notify may have ended it
		return
	}
	m := f.monitors[lock]
	i := slices.IndexFunc(m.waiters, func(w waiter) bool { return w.thread == ev.Thread })
	w := m.waiters[i]
	switch {
	case ev.Flags&jvmthread.FlagTimedOut == 0:
		if !w.notified {
			f.heard(lock) // most likely it was interrupted, but it may have been a notify that was not seen
		}
	case w.counts && !w.notified && m.lost != nil && ev.Time-w.start >= leastWait:
		f.report(m, ev.Time, ev.Thread)
		f.heard(lock)
	}
	f.leave(ev.Thread)
}

// notify wakes the first waiter, or all. Without one, the notify is remembered.
func (f *Finder) notify(ev *jvmthread.Event) {
	if ev.Lock.IsZero() {
		return
	}
	m := f.monitor(ev.Lock)
	woke, all := false, ev.Kind == jvmthread.KindNotifyAll
	for i := range m.waiters {
		if w := &m.waiters[i]; !w.notified && (all || !woke) {
			w.notified, woke = true, true
		}
	}
	if woke {
		f.heard(ev.Lock)
		return
	}
	if m.lost == nil {
		f.remember(ev.Lock)
	}
	m.lost = &Found{Lock: ev.Lock, At: ev.Time, By: ev.Thread, Stack: ev.Stack, All: all}
}

// remember makes room for a lost notify.
func (f *Finder) remember(id jvmthread.LockID) {
	for f.lost >= maxLost {
		oldest := f.order[0]
		f.order = f.order[1:]
		if f.stands(oldest) {
			f.heard(oldest.lock)
		}
	}
	if len(f.order) >= 2*maxLost {
		f.order = slices.DeleteFunc(slices.Clone(f.order), func(e entry) bool { return !f.stands(e) })
	}
	f.last++
	f.monitor(id).number = f.last
	f.order = append(f.order, entry{id, f.last})
	f.lost++
}

// stands reports whether a lost notify was not heard since.
func (f *Finder) stands(e entry) bool {
	m := f.monitors[e.lock]
	return m != nil && m.lost != nil && m.number == e.number
}

// heard forgets the lost notify of an object.
func (f *Finder) heard(id jvmthread.LockID) {
	m := f.monitors[id]
	if m == nil || m.lost == nil {
		return
	}
	m.lost = nil
	f.lost--
	for i := range m.waiters {
		m.waiters[i].counts = false
	}
	f.tidy(id, m)
}

// Take returns what was found since the last call, and the waits that are not over and began more than a minute before a time, or 10 ms if the
// JVM has ended then.
func (f *Finder) Take(now jvmthread.Time, ended bool) []Found {
	least := tooLong
	if ended {
		least = leastWait
	}
	for _, e := range f.order {
		m := f.monitors[e.lock]
		if !f.stands(e) {
			continue
		}
		i := slices.IndexFunc(m.waiters, func(w waiter) bool { return w.counts && !w.notified })
		if i >= 0 && now-m.waiters[i].start >= least {
			f.report(m, now, jvmthread.NoThread)
			f.heard(e.lock)
		}
	}
	out := f.found
	f.found = nil
	return out
}

// report reports the lost notify of an object, with the thread whose wait timed out, if there is one.
func (f *Finder) report(m *monitor, at jvmthread.Time, timedOut jvmthread.ThreadID) {
	out := *m.lost
	out.End, out.Open = at, timedOut == jvmthread.NoThread
	for i := range m.waiters {
		w := &m.waiters[i]
		switch {
		case !w.counts || w.notified || w.start >= at:
		case len(out.Waits) == maxWaits:
			out.More++
		default:
			out.Waits = append(out.Waits, Wait{w.thread, w.start, at, w.stack, w.thread == timedOut})
		}
	}
	if len(f.found) < maxLost { // Take may never be called
		f.found = append(f.found, out)
	}
}
