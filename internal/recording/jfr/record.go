// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"math"
	"math/bits"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// record is an event of the recording, with a start and an end. They are the same if it has no duration.
type record struct {
	event jvmthread.Event // at the start
	end   jvmthread.Time
	from  jvmthread.ThreadID // the thread that ended the wait: previous owner, notifier
	kind  eventKind
	call  call
	ended jvmthread.Flags // at the end
	stray bool            // of a thread that is not defined
}

// eventPlan is the plan of a wanted event.
type eventPlan struct {
	*plan

	brief *plan // the same without what only stacks and names.refine need
	kind  eventKind
}

// read reads a record, and reports whether its thread is known.
func (n *names) read(p *eventPlan, c *clock, cur *cursor, v *values, r *record) bool {
	if n.brief {
		p.brief.readSteps(cur, v, p.last)
	} else {
		p.read(cur, v)
	}
	if cur.failed {
		return false
	}
	*r = record{kind: p.kind}
	ev := &r.event
	ev.Time = jvmthread.Time(c.at(v.n[slotStart]))
	r.end = ev.Time + jvmthread.Time(max(0, c.span(v.n[slotDuration])))
	if p.kind == kindPause {
		n.pause(r)
		return true
	}
	key := v.n[slotThread]
	switch p.kind {
	case kindStart, kindEnd:
		if v.n[slotTarget] != 0 {
			key = v.n[slotTarget]
		}
	}
	thread := n.thread(key)
	if ev.Thread = thread.id; ev.Thread == jvmthread.NoThread {
		if thread.undefined && p.kind != kindStart && p.kind != kindEnd { // JVMs do not always define their own threads
			r.stray = true
		}
		return false
	}
	if !n.brief {
		stack := n.stack(v.n[slotStack])
		r.event.Stack, r.call = stack.id, stack.call
	}
	if v.n[slotClass] != 0 || v.n[slotAddress] != 0 {
		r.event.Lock = jvmthread.LockID{Class: n.class(v.n[slotClass]), Hash: identity(v.n[slotAddress])}
	}
	if thread.virtual || p.kind == kindVirtualStart || p.kind == kindVirtualEnd || p.kind == kindPinned {
		ev.Flags, r.ended = jvmthread.FlagVirtual, jvmthread.FlagVirtual
	}
	if r.kind.isIO() {
		n.io(r, v)
		return true
	}
	n.refine(p, r, v)
	return true
}

// pause makes a record one of the pseudo thread of pauses.
func (n *names) pause(r *record) {
	if !n.paused {
		n.paused = true
		n.define(jvmthread.Thread{ID: jvmthread.PausesThread, Name: jvmthread.PausesName, Group: "system"})
	}
	r.event.Thread, r.event.Kind = jvmthread.PausesThread, jvmthread.KindPark
	if !n.brief {
		r.event.Lock.Class = n.symbols.InternClass(jvmthread.PauseClass)
	}
}

// initLock is the class of what HotSpot waits on, without a call of Object.wait, while another thread initializes a class.
const initLock = "[I"

// refine sets the fields that depend on the kind of event.
func (n *names) refine(p *eventPlan, r *record, v *values) {
	ev := &r.event
	switch r.kind {
	case kindEnter:
		ev.Kind, r.from = jvmthread.KindContendedEnter, n.thread(v.n[slotPeer]).id
	case kindWait:
		ev.Kind, ev.Arg, r.from = jvmthread.KindWait, nanos(v.n[slotTimeout], p.units[slotTimeout]), n.thread(v.n[slotPeer]).id
		if class := n.symbols.Class(ev.Lock.Class); class == initLock && r.call == callOther {
			r.kind, ev.Kind = kindEnter, jvmthread.KindContendedEnter
			return
		}
		if v.n[slotTimedOut] != 0 {
			r.ended |= jvmthread.FlagTimedOut
		}
		if r.call == callJoin || r.call != callWait && n.symbols.Class(ev.Lock.Class) == "java.lang.Thread" {
			ev.Kind, ev.Peer = jvmthread.KindJoinStart, r.from
		}
	case kindPark:
		ev.Kind, ev.Arg = jvmthread.KindPark, nanos(v.n[slotTimeout], p.units[slotTimeout])
		if until := nanos(v.n[slotUntil], p.units[slotUntil]); until > int64(ev.Time) {
			ev.Arg = untilEnd(until-int64(ev.Time), int64(r.end-ev.Time))
		}
	case kindPinned:
		ev.Kind = jvmthread.KindPark
	case kindSleep:
		ev.Kind, ev.Arg = jvmthread.KindSleepStart, nanos(v.n[slotTimeout], p.units[slotTimeout])
	case kindStart:
		ev.Kind, ev.Peer = jvmthread.KindThreadStart, n.thread(v.n[slotPeer]).id
	case kindVirtualStart:
		ev.Kind = jvmthread.KindThreadStart
	case kindEnd, kindVirtualEnd:
		ev.Kind = jvmthread.KindThreadEnd
	case kindNotify:
		ev.Kind = jvmthread.KindNotify
		if r.call == callNotifyAll {
			ev.Kind = jvmthread.KindNotifyAll
		}
	}
}

// untilEnd returns the timeout of a park that ended after lasted nanoseconds. A deadline is in milliseconds of the wall clock, by which the JVM
// dates the start of a chunk, too, in JDK 11 to the millisecond only: the deadline has passed if it seems to be less than that away.
func untilEnd(timeout, lasted int64) int64 {
	if left := timeout - lasted; left > 0 && left <= 1e6 {
		return max(1, lasted)
	}
	return timeout
}

// identity hashes the address of a monitor or an object to 32 bits. Addresses differ in few bits, all of which have to count.
func identity(address int64) uint32 {
	if address == 0 {
		return 0
	}
	const odd = 0x9e3779b97f4a7c15
	hash := uint32(bits.RotateLeft64(uint64(address), 29) * odd >> 32)
	return max(hash, 1)
}

// nanos converts a duration from the unit of its field. Negative values, which mean "none", become 0.
func nanos(n int64, unit string) int64 {
	factor := int64(1)
	switch unit {
	case "MICROSECONDS":
		factor = 1e3
	case "MILLISECONDS", "MILLISECONDS_SINCE_EPOCH":
		factor = 1e6
	case "SECONDS":
		factor = 1e9
	}
	switch {
	case n <= 0:
		return 0
	case n > math.MaxInt64/factor:
		return math.MaxInt64
	}
	return n * factor
}
