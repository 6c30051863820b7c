// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// lockEvent tells of a lock class on the root, where Jaeger shows it under "Logs".
func (e *Emitter) lockEvent(l *window.LockStats, ev ptrace.SpanEvent) {
	ev.SetName(attrLockEvent)
	ev.SetTimestamp(stamp(e.window.Start))
	a := ev.Attributes()
	a.EnsureCapacity(20)
	a.PutStr(attrLockClass, e.sym.Class(l.Class))
	putCount(a, attrLockContended, l.Contentions)
	a.PutInt(attrLockBlocked, int64(l.Blocked))
	a.PutInt(attrLockBlockedMax, int64(l.BlockedMax))
	a.PutInt(attrLockWaiters, int64(l.Waiters))
	putCount(a, attrLockWaits, l.Waits)
	a.PutInt(attrLockWaited, int64(l.Waited))
	putCount(a, attrLockHandoffs, l.Handoffs)
	if l.Held > 0 {
		putCount(a, attrLockHolds, l.Holds)
		a.PutInt(attrLockHeld, int64(l.Held))
		a.PutInt(attrLockHeldMax, int64(l.HeldMax))
		for state, d := range l.Holders {
			if d > 0 && state < len(attrHolder) {
				a.PutInt(attrHolder[state], int64(d))
			}
		}
	}
	if v := e.window.Verdict; v != nil {
		a.PutInt(attrPathTime, int64(v.PathTime(l.Class)))
		saving := v.Saving(l.Class)
		a.PutInt(attrSaved, int64(saving.Drag))
		a.PutInt(attrBound, int64(saving.Bound))
	}
	if l.Run.Handoffs > 0 {
		putCount(a, attrChainLength, l.Run.Handoffs)
		a.PutInt(attrChainTime, int64(l.Run.End.Sub(l.Run.Start)))
		a.PutStr(attrChainThreads, e.handoffRun(&l.Run))
	}
}

// handoffRun lists the first threads of a run: a -> b -> c, and after an ellipsis the last one.
func (e *Emitter) handoffRun(c *window.HandoffRun) string {
	e.text.Reset()
	threads := c.Threads()
	for i, id := range threads {
		switch {
		case i > 0 && i == len(threads)-1 && uint64(len(threads)) <= c.Handoffs:
			e.text.WriteString(" -> ... -> ")
		case i > 0:
			e.text.WriteString(" -> ")
		}
		e.text.WriteString(e.threadName(id))
	}
	return e.text.String()
}

// deadlockEvent tells of a deadlock on the root of the window in which it was found.
func (e *Emitter) deadlockEvent(f *deadlock.Found, ev ptrace.SpanEvent) {
	ev.SetName(attrDeadlockEvent)
	ev.SetTimestamp(stamp(f.Since))
	a := ev.Attributes()
	a.PutStr(attrDeadlockID, e.deadlockID(f.Cycle))
	a.PutInt(attrDeadlockSince, int64(f.Since))
	a.PutStr(attrDeadlockThreads, e.cycle(f))
}

// hintEvent tells of two locks that are taken in both orders.
func (e *Emitter) hintEvent(h *deadlock.Hint, ev ptrace.SpanEvent) {
	ev.SetName(attrOrderEvent)
	ev.SetTimestamp(stamp(h.At))
	e.putHint(h, ev.Attributes())
}

func (e *Emitter) putHint(h *deadlock.Hint, a pcommon.Map) {
	a.PutStr(attrOrderFirst, e.sym.Class(h.First.Class))
	a.PutStr(attrOrderSecond, e.sym.Class(h.Second.Class))
	a.PutStr(attrExplanation, e.hint(h))
}

// hint says in words who took two locks in which order.
func (e *Emitter) hint(h *deadlock.Hint) string {
	first, second := e.simpleName(h.First.Class), e.simpleName(h.Second.Class)
	return fmt.Sprintf("%s held %s and wanted %s; %s held %s and wanted %s, %v later: some day both at once",
		e.threadName(h.Holder), first, second, e.threadName(h.Other), second, first, h.At.Sub(h.Before))
}

// cycle says in words who waits for what: a -> OrderBook -> b -> Account -> a.
func (e *Emitter) cycle(f *deadlock.Found) string {
	e.text.Reset()
	for i := range f.Waits {
		e.text.WriteString(e.threadName(f.Waits[i].Thread) + " -> " + e.simpleName(f.Waits[i].Lock.Class) + " -> ")
	}
	e.text.WriteString(e.threadName(f.Waits[0].Thread))
	return e.text.String()
}

func (e *Emitter) deadlockID(c jvmthread.Cycle) string { return DeadlockID(e.session, c) }
