// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// carriage is what is known of the carrier of a virtual thread, if the agent reports mounts.
type carriage struct {
	carrier jvmthread.ThreadID // on which it is mounted; NoThread: none, or not known
	since   jvmthread.Time     // of the mount
	left    bool               // it was unmounted in its open interval
	yielded bool               // it is about to be unmounted, though it could continue
	ready   bool               // it was unparked between its park and its unmount
}

// Carrier returns the platform thread on which a virtual thread is mounted, NoThread if there is none or the agent does not report it.
func (t *Thread) Carrier() jvmthread.ThreadID { return t.on.carrier }

// Virtual reports whether an event said that the thread is virtual.
func (t *Thread) Virtual() bool { return t.virtual }

// Pinned reports whether the thread is virtual, waits, and has kept its carrier so far.
func (t *Thread) Pinned() bool { return t.open.Marks.Has(jvmthread.MarkPinned) || t.pinned() }

// pinned reports whether the thread waits and has kept its carrier so far. An unmount may follow within microseconds of the start, so only
// the agent says whether a wait was pinned to its end.
func (t *Thread) pinned() bool {
	return t.on.carrier != jvmthread.NoThread && !t.on.left && t.open.State.Stopped() && !t.MayRun() && t.open.State != jvmthread.StateQueued
}

// mount notes the carrier. A thread that was queued runs from here on; one that was parked says so by unparked.
func (t *Timeline) mount(th *Thread, ev *jvmthread.Event) {
	th.on.carrier, th.on.since = ev.Peer, ev.Time
	t.carry(ev.Peer, ev.Thread)
	if th.open.State == jvmthread.StateQueued {
		t.run(th, ev)
	}
}

// unmount notes that the thread has no carrier. One that yields, or was unparked meanwhile, is ready to run and waits for the next one.
func (t *Timeline) unmount(th *Thread, ev *jvmthread.Event) {
	ready := th.on.yielded && th.open.State == jvmthread.StateRunnable || th.on.ready && th.open.State == jvmthread.StateParked
	t.leave(ev.Peer, ev.Thread)
	t.dismount(th, ev.Time)
	th.on.left = true
	if ready {
		t.enqueue(th, ev.Time)
	}
}

func (t *Timeline) enqueue(th *Thread, at jvmthread.Time) {
	t.to(th, jvmthread.StateQueued, at)
	th.open.Wait = jvmthread.WaitCarrier
}

// ready makes the peer of an event ready to run: a virtual thread that is new, or was parked without a carrier.
func (t *Timeline) ready(ev *jvmthread.Event) {
	th := t.Thread(ev.Peer)
	switch {
	case th == nil:
		if ev.Kind != jvmthread.KindStartCalled {
			return
		}
		if th = t.enter(&jvmthread.Event{Time: ev.Time, Thread: ev.Peer, Kind: jvmthread.KindThreadStart}); th != nil {
			th.open.State, th.open.Wait, th.virtual = jvmthread.StateQueued, jvmthread.WaitCarrier, true
		}
	case th.dead || ev.Kind == jvmthread.KindStartCalled: // a second call of start throws
	case th.open.Marks.Has(jvmthread.MarkPinned):
	case th.pinned():
		th.on.ready = th.open.State == jvmthread.StateParked
		if th.on.ready && ev.Flags&jvmthread.FlagTimedOut != 0 {
			th.open.Marks |= jvmthread.MarkTimedOut
		}
	case th.open.State == jvmthread.StateParked, th.open.State == jvmthread.StateDeadlocked && th.open.Was == jvmthread.StateParked:
		if ev.Flags&jvmthread.FlagTimedOut != 0 {
			th.open.Marks |= jvmthread.MarkTimedOut
		}
		t.enqueue(th, ev.Time)
	}
}

// Returns reports whether a thread with this stack gives an object back to a pool.
func (t *Timeline) Returns(stack jvmthread.StackID) bool { return t.waits.Returns(stack) }

// MayExpire reports whether a wait ends by itself, if nothing else ends it. Agents do not know the timeouts of virtual threads before Java 24.
func (t *Timeline) MayExpire(iv *jvmthread.Interval) bool {
	return iv.Timeout > 0 || iv.State == jvmthread.StateParked && t.waits.Timed(iv.Stack)
}

// MayRun reports whether the thread runs or may run. A virtual thread that left a wait set may: some agents do not report when it gets
// the monitor again. So may one that was seen in a system call, until the next look.
func (t *Thread) MayRun() bool {
	return t.open.State == jvmthread.StateRunnable || t.open.Marks.Has(jvmthread.MarkSeen) || t.open.State == jvmthread.StateReentering && t.virtual
}

// ran makes the open interval of a virtual thread runnable. A virtual thread that left the wait set and did not get the monitor by
// contendedEntered got it at once, as it has done something else since.
func (t *Thread) ran() {
	t.inWait = false
	iv := &t.open
	iv.State, iv.Wait, iv.Lock, iv.Peer, iv.Stack = jvmthread.StateRunnable, jvmthread.WaitNone, jvmthread.NoLock, jvmthread.NoThread, jvmthread.NoStack
}
