// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// State is all that later events depend on between two cuts, in a form that can be stored.
type State struct {
	Locks      []LockState
	Waits      []WaitState
	Starts     map[jvmthread.ThreadID]CauseState
	Interrupts map[jvmthread.ThreadID]CauseState
	Unparks    map[jvmthread.ThreadID]CauseState

	UnparksSeen bool // of platform threads
}

// CauseState is an action that may unblock another thread.
type CauseState struct {
	From  jvmthread.IntervalRef
	Time  jvmthread.Time
	Stack jvmthread.StackID
	Sure  jvmthread.Confidence
	Ready bool
}

// LockState is the state of a lock. The fields are those of lock.
type LockState struct {
	ID                          jvmthread.LockID
	Owner                       jvmthread.ThreadID
	Since, Seen, Touched, Empty jvmthread.Time
	Blocked                     Crowd
	Marks                       jvmthread.HoldMarks
	Release                     CauseState
	Waiters                     []WaiterState
	Sharers                     []SharerState
	Pool                        PoolState
	Woken                       []jvmthread.Interval
}

// WaiterState is a thread in a wait set.
type WaiterState struct {
	Thread   jvmthread.ThreadID
	Since    jvmthread.Time
	Notified CauseState
	All      bool
}

// PoolState is a lock as a pool.
type PoolState struct {
	Is     bool
	Wanted jvmthread.Time
	Given  []SharerState
}

// SharerState is a thread that holds one of several permits.
type SharerState struct {
	Thread jvmthread.ThreadID
	Since  jvmthread.Time
	Unsure bool
}

// WaitState is the progress of a thread through a wait.
type WaitState struct {
	Thread   jvmthread.ThreadID
	Lock     jvmthread.LockID // zero: in no wait set
	Home     jvmthread.LockID
	Notified jvmthread.Time
	Back     bool
	Shares   []jvmthread.LockID
	Began    jvmthread.Time
	Next     jvmthread.LockID // that it takes when it has a carrier
	NextWait jvmthread.Wait
}

func (c *cause) state() CauseState { return CauseState{c.from, c.time, c.stack, c.sure, c.ready} }

func (c *CauseState) cause() cause { return cause{c.From, c.Time, c.Stack, c.Sure, c.Ready} }

func causeStates(causes pending) map[jvmthread.ThreadID]CauseState {
	out := make(map[jvmthread.ThreadID]CauseState, len(causes))
	for id, c := range causes {
		out[id] = c.state()
	}
	return out
}

// State returns a copy of the current state. It is to be called after Cut, when all ended holds have been taken.
func (b *Binder) State() State {
	s := State{
		Locks: make([]LockState, 0, len(b.locks)), Starts: causeStates(b.causes.starts), Interrupts: causeStates(b.causes.interrupts), Unparks: causeStates(b.causes.unparks),
		UnparksSeen: b.causes.unparksSeen,
	}
	for _, l := range b.locks {
		s.Locks = append(s.Locks, l.state())
	}
	for th := range b.timeline.Threads {
		if slot := th.Slot(); slot < len(b.waits.threads) && b.waits.threads[slot].thread == th.Open().Thread {
			s.Waits = append(s.Waits, b.waits.threads[slot].state())
		}
	}
	return s
}

func (l *lock) state() LockState {
	s := LockState{
		ID: l.id, Owner: l.owner, Since: l.since, Seen: l.seen, Touched: l.touched, Blocked: l.blocked, Empty: l.empty, Marks: l.marks,
		Release: l.release.state(), Woken: slices.Clone(l.woken), Pool: l.pool.state(),
	}
	for i := range l.waiters {
		w := &l.waiters[i]
		s.Waiters = append(s.Waiters, WaiterState{w.thread, w.since, w.notified.state(), w.all})
	}
	s.Sharers = sharerStates(l.sharers)
	return s
}

func (p *pool) state() PoolState { return PoolState{p.is, p.wanted, sharerStates(p.given)} }

func (p *PoolState) pool() pool { return pool{p.Is, p.Wanted, sharers(p.Given)} }

func sharerStates(list []sharer) (out []SharerState) {
	for _, h := range list {
		out = append(out, SharerState{h.thread, h.since, h.unsure})
	}
	return out
}

func sharers(list []SharerState) (out []sharer) {
	for _, h := range list {
		out = append(out, sharer{h.Thread, h.Since, h.Unsure})
	}
	return out
}

func (w *waiting) state() WaitState {
	s := WaitState{Thread: w.thread, Home: w.home, Notified: w.notified, Back: w.back, Began: w.began, Next: w.next.lock, NextWait: w.next.wait}
	if w.lock != nil {
		s.Lock = w.lock.id
	}
	for _, l := range w.shares {
		s.Shares = append(s.Shares, l.id)
	}
	return s
}

// Restore continues from a state. Nothing was applied yet, and the timeline has been restored.
func (b *Binder) Restore(s *State) {
	for i := range s.Locks {
		if len(b.locks) >= b.maxLocks {
			b.counters.LocksRefused++
			continue
		}
		b.locks[s.Locks[i].ID] = s.Locks[i].lock()
	}
	for i := range s.Waits {
		w := &s.Waits[i]
		th := b.timeline.Thread(w.Thread)
		if th == nil {
			continue
		}
		me := b.waits.of(th)
		me.lock, me.home, me.notified, me.back, me.began = b.locks[w.Lock], w.Home, w.Notified, w.Back, w.Began
		me.next = awaited{w.Next, w.NextWait}
		for _, id := range w.Shares {
			if l := b.locks[id]; l != nil {
				me.shares = append(me.shares, l)
			}
		}
	}
	restore(b.causes.starts, s.Starts)
	restore(b.causes.interrupts, s.Interrupts)
	restore(b.causes.unparks, s.Unparks)
	b.causes.unparksSeen = s.UnparksSeen
}

func restore(causes pending, from map[jvmthread.ThreadID]CauseState) {
	for id, c := range from {
		causes[id] = c.cause()
	}
}

func (s *LockState) lock() *lock {
	l := &lock{
		id: s.ID, owner: s.Owner, since: s.Since, seen: s.Seen, touched: s.Touched, blocked: s.Blocked, empty: s.Empty, marks: s.Marks,
		release: s.Release.cause(), woken: s.Woken, pool: s.Pool.pool(),
	}
	for i := range s.Waiters {
		w := &s.Waiters[i]
		l.waiters = append(l.waiters, waiter{w.Thread, w.Since, w.Notified.cause(), w.All})
	}
	l.sharers = sharers(s.Sharers)
	return l
}

// Symbols calls the functions for each class and stack that the state refers to. They may replace it.
func (s *State) Symbols(class func(*jvmthread.ClassID), stack func(*jvmthread.StackID)) {
	for i := range s.Locks {
		l := &s.Locks[i]
		class(&l.ID.Class)
		stack(&l.Release.Stack)
		for j := range l.Waiters {
			stack(&l.Waiters[j].Notified.Stack)
		}
		for j := range l.Woken {
			class(&l.Woken[j].Lock.Class)
			stack(&l.Woken[j].Stack)
		}
	}
	for i := range s.Waits {
		class(&s.Waits[i].Lock.Class)
		class(&s.Waits[i].Next.Class)
		class(&s.Waits[i].Home.Class)
		for j := range s.Waits[i].Shares {
			class(&s.Waits[i].Shares[j].Class)
		}
	}
	for _, causes := range []map[jvmthread.ThreadID]CauseState{s.Starts, s.Interrupts, s.Unparks} {
		for id, c := range causes {
			stack(&c.Stack)
			causes[id] = c
		}
	}
}
