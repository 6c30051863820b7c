// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// A flight recording has parks, but neither owners nor unparks. Who got a lock held it as long as others waited all the time. If no thread
// waited for a while, any may hold it.
func TestLocksWithoutOwners(t *testing.T) {
	const a, b jvmthread.ThreadID = 1, 2
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 1}
	park := func(th jvmthread.ThreadID, from, to jvmthread.Time) []jvmthread.Event {
		return []jvmthread.Event{{Time: from, Thread: th, Kind: jvmthread.KindPark, Lock: lock}, {Time: to, Thread: th, Kind: jvmthread.KindUnparked}}
	}
	for _, test := range []struct {
		name   string
		second []jvmthread.Event
		want   []jvmthread.Hold
	}{
		{"another waited", park(b, 15, 60), []jvmthread.Hold{{Start: 20, End: 60, Lock: lock, Thread: a, Marks: jvmthread.HoldInferred}}},
		{"a pause between the waits", park(b, 500, 700), nil},
	} {
		e := drive.New(engine.DefaultConfig(), sym)
		events := slices.Concat(park(a, 10, 20), test.second)
		slices.SortFunc(events, func(x, y jvmthread.Event) int { return cmp.Compare(x.Time, y.Time) })
		e.Add(ordering.Batch{Number: 1, Watermark: 1000, Events: events})
		e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
			var holds []jvmthread.Hold
			for _, h := range w.Holds {
				if h.End > h.Start {
					holds = append(holds, h)
				}
			}
			if !slices.Equal(test.want, holds) {
				t.Errorf("%s: have %v, want %v", test.name, holds, test.want)
			}
			if w.CountInteractions() != len(test.want) {
				t.Errorf("%s: %d interactions", test.name, w.CountInteractions())
			}
		})
	}
}

// A thread is known to hold an object of a pool only while others wait for one: only then is its return seen.
func TestPoolIsHeldWhileThreadsWait(t *testing.T) {
	const a, b, c jvmthread.ThreadID = 1, 2, 3
	sym := symbols.New(symbols.DefaultLimits())
	pool := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.SynchronousQueue$TransferQueue"), Hash: 1}
	stack := sym.InternStack("at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:1)")
	e := drive.New(engine.DefaultConfig(), sym)
	e.Add(ordering.Batch{Number: 1, Watermark: 1000, Events: []jvmthread.Event{
		{Time: 1, Thread: a, Kind: jvmthread.KindThreadStart},
		{Time: 1, Thread: b, Kind: jvmthread.KindThreadStart},
		{Time: 1, Thread: c, Kind: jvmthread.KindThreadStart},
		{Time: 10, Thread: a, Kind: jvmthread.KindPark, Lock: pool, Stack: stack},
		{Time: 20, Thread: b, Kind: jvmthread.KindPark, Lock: pool, Stack: stack},
		{Time: 49, Thread: c, Kind: jvmthread.KindUnpark, Peer: a},
		{Time: 50, Thread: a, Kind: jvmthread.KindUnparked},
		{Time: 89, Thread: c, Kind: jvmthread.KindUnpark, Peer: b},
		{Time: 90, Thread: b, Kind: jvmthread.KindUnparked},
		{Time: 900, Thread: c, Kind: jvmthread.KindYield},
	}})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
		if len(w.Holds) == 0 {
			t.Error("no thread held the pool")
		}
		for _, h := range w.Holds {
			if h.Thread == a && h.End != 90 || h.Thread == b || h.End > 90 {
				t.Errorf("%+v", h)
			}
		}
	})
}

// Before Java 24 a virtual thread does not say how long it parks at most. So the end of such a park may be a handoff or a timeout.
func TestParkOfUnknownTimeoutIsNoHandoff(t *testing.T) {
	const a, b jvmthread.ThreadID = 1, 2
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 1}
	for stack, handoffs := range map[string]int{
		"at java.lang.VirtualThread.park(VirtualThread.java:1)":      1,
		"at java.lang.VirtualThread.parkNanos(VirtualThread.java:1)": 0,
	} {
		e := drive.New(engine.DefaultConfig(), sym)
		e.Add(ordering.Batch{Number: 1, Watermark: 1000, Events: []jvmthread.Event{
			{Time: 1, Thread: a, Kind: jvmthread.KindThreadStart, Flags: jvmthread.FlagVirtual},
			{Time: 1, Thread: b, Kind: jvmthread.KindThreadStart},
			{Time: 10, Thread: a, Kind: jvmthread.KindPark, Lock: lock, Peer: b, Stack: sym.InternStack(stack), Flags: jvmthread.FlagVirtual},
			{Time: 50, Thread: a, Kind: jvmthread.KindUnparked, Flags: jvmthread.FlagVirtual},
		}})
		e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
			if n := w.CountInteractions(); n != handoffs {
				t.Errorf("%s: %d handoffs, want %d", stack, n, handoffs)
			}
		})
	}
}

// A park of a platform thread that ended without an unpark is not a handoff if unparks are known: the thread was interrupted while it was about to
// park, and the interrupt comes after.
func TestParkWithoutUnparkIsNoHandoff(t *testing.T) {
	const a, b jvmthread.ThreadID = 1, 2
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 1}
	unpark := jvmthread.Event{Time: 5, Thread: a, Kind: jvmthread.KindUnpark, Peer: b}
	for _, test := range []struct {
		name     string
		before   jvmthread.Event
		flags    jvmthread.Flags
		handoffs int
	}{
		{"no unpark was seen", jvmthread.Event{Time: 5, Thread: a, Kind: jvmthread.KindYield}, 0, 1},
		{"an unpark was seen", unpark, 0, 0},
		{"a virtual thread", unpark, jvmthread.FlagVirtual, 1},
		{"events are missing", jvmthread.Event{Time: 7, Thread: b, Kind: jvmthread.KindGap, Arg: 1}, 0, 1},
	} {
		e := drive.New(engine.DefaultConfig(), sym)
		e.Add(ordering.Batch{Number: 1, Watermark: 1000, Events: []jvmthread.Event{
			{Time: 1, Thread: a, Kind: jvmthread.KindThreadStart, Flags: test.flags},
			{Time: 1, Thread: b, Kind: jvmthread.KindThreadStart},
			test.before,
			{Time: 10, Thread: a, Kind: jvmthread.KindPark, Lock: lock, Peer: b, Flags: test.flags},
			{Time: 50, Thread: a, Kind: jvmthread.KindUnparked, Flags: test.flags},
			{Time: 51, Thread: b, Kind: jvmthread.KindInterruptCalled, Peer: a},
		}})
		e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
			if n := w.CountInteractions(); n != test.handoffs {
				t.Errorf("%s: %d handoffs, want %d", test.name, n, test.handoffs)
			}
		})
	}
}
