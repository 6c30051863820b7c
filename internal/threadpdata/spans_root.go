// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// The root has events for at most so many of the hottest lock classes and of the lock order hints, the lane of the path for so many call sites.
const (
	maxLockEvents = 10
	maxHintEvents = 10
	maxSites      = 10
)

// PutRefused writes on a root how many spans of earlier windows are lost because the next consumer rejected them.
func PutRefused(root ptrace.Span, spans int64) {
	if spans > 0 {
		root.Attributes().PutInt(attrSpansRefused, spans)
	}
}

func (e *Emitter) writeRoot(s ptrace.Span) {
	w := e.window
	a := s.Attributes()
	a.EnsureCapacity(24)
	a.PutStr(attrSessionID, e.session.String())
	a.PutStr(attrWindowCut, string(w.Cut))
	a.PutInt(attrWindowStart, int64(w.Start))
	if e.by != 0 {
		a.PutInt(attrClockShift, int64(e.by))
	}
	a.PutInt(attrThreads, int64(len(w.Lanes)))
	putCount(a, attrEvents, w.Events)
	putCount(a, attrEventsLost, w.Lost)
	putCount(a, attrEventsMissed, w.Missed)
	if w.Shed > 0 {
		putCount(a, attrEventsShed, w.Shed)
	}
	if f := w.FoldedThreads(); f.Count > 0 {
		putCount(a, attrFoldedThreads, f.Count)
		a.PutInt(attrFoldedTime, int64(f.Time))
		a.PutStr(attrFoldedNames, e.foldedNames())
	}
	if silent := w.Silent(); silent.Threads > 0 {
		a.PutInt(attrSilentThreads, int64(silent.Threads))
		a.PutInt(attrSilentTime, int64(silent.Totals.Time()))
	}
	if e.Calls != nil {
		if n := e.Calls.without(w); n > 0 {
			a.PutInt(attrFoldedCalls, int64(n))
		}
	}
	putTotals(a, &w.Totals)
	folded := foldedContended(w)
	putContended(a, &w.Waits, &folded)
	for kind, sum := range w.Waits {
		if sum != (window.Sum{}) && jvmthread.Wait(kind) != jvmthread.WaitNone {
			putWaits(jvmthread.Wait(kind), sum, addEvent(s, attrWaitEvent, w.Start))
		}
	}
	for i := range w.Locks[:min(len(w.Locks), maxLockEvents)] {
		e.putLockStats(&w.Locks[i], addEvent(s, attrLockEvent, w.Start))
	}
	for i := range w.Deadlocks {
		f := &w.Deadlocks[i]
		e.putDeadlock(f, addEvent(s, attrDeadlockEvent, f.Since))
	}
	for i := range w.Hints[:min(len(w.Hints), maxHintEvents)] {
		h := &w.Hints[i]
		e.putHint(h, addEvent(s, attrOrderEvent, h.At))
	}
	if w.Totals[jvmthread.StateDeadlocked].Time > 0 {
		fail(s)
	}
}

// putWaits describes all waits of a kind.
func putWaits(kind jvmthread.Wait, sum window.Sum, a pcommon.Map) {
	a.EnsureCapacity(3)
	a.PutStr(attrWaitKind, kind.String())
	putCount(a, attrWaitCount, sum.Count)
	a.PutInt(attrWaitTime, int64(sum.Time))
}

// putLockStats describes a lock class.
func (e *Emitter) putLockStats(l *window.LockStats, a pcommon.Map) {
	a.EnsureCapacity(20)
	a.PutStr(attrLockClass, e.className(l.Class))
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
			if d > 0 && attrHolder[state] != "" {
				a.PutInt(attrHolder[state], int64(d))
			}
		}
	}
	if l.Folded.Count > 0 {
		putCount(a, attrFoldedWaits, l.Folded.Count)
		a.PutInt(attrFoldedWaitTime, int64(l.Folded.Time))
	}
	if v := e.window.Verdict; v != nil {
		a.PutInt(attrPathTime, int64(v.PathTime(l.Class)))
		if v.WhatIf {
			saving := v.Saving(l.Class)
			if !saving.Unknown {
				a.PutInt(attrSaved, int64(saving.Drag))
			}
			a.PutInt(attrBound, int64(saving.Bound))
		}
	}
	if l.Run.Handoffs > 0 {
		putCount(a, attrChainLength, l.Run.Handoffs)
		a.PutInt(attrChainTime, int64(l.Run.End.Sub(l.Run.Start)))
		a.PutStr(attrChainThreads, e.handoffRun(&l.Run))
	}
}

// putDeadlock describes a deadlock and returns its cycle.
func (e *Emitter) putDeadlock(f *deadlock.Found, a pcommon.Map) (cycle string) {
	cycle = e.cycle(f)
	a.PutStr(attrDeadlockID, DeadlockID(e.session, f.Cycle))
	a.PutInt(attrDeadlockSince, int64(f.Since))
	a.PutStr(attrDeadlockThreads, cycle)
	return cycle
}

// putHint describes two locks that are taken in both orders.
func (e *Emitter) putHint(h *deadlock.Hint, a pcommon.Map) {
	a.PutStr(attrOrderFirst, e.className(h.First.Class))
	a.PutStr(attrOrderSecond, e.className(h.Second.Class))
	a.PutStr(attrExplanation, e.hint(h))
}

// writePath writes the lane of the critical path.
func (e *Emitter) writePath(p *plan, s ptrace.Span) {
	path := e.window.Verdict.Path
	a := s.Attributes()
	a.EnsureCapacity(6)
	a.PutStr(attrPathThreadName, e.threadName(path.Thread))
	a.PutInt(attrIntervalTime, int64(path.End-path.Start))
	if folded := len(path.Segments) - len(p.segments); folded > 0 {
		var shown jvmthread.Time
		for _, seg := range p.segments {
			shown += seg.End - seg.Start
		}
		a.PutInt(attrFoldedCount, int64(folded))
		a.PutInt(attrFoldedTime, int64(path.End-path.Start-shown))
	}
	for _, site := range e.window.Verdict.Sites() {
		if s.Events().Len() == maxSites || site.Time == 0 {
			return
		}
		e.putSite(&site, addEvent(s, attrSiteEvent, path.Start))
	}
}

// putSite describes a place in the code where the path's thread, or a thread it waited for, waited.
func (e *Emitter) putSite(site *criticalpath.Share, a pcommon.Map) {
	path := e.window.Verdict.Path
	a.EnsureCapacity(6)
	a.PutStr(attrWaitKind, site.Group.Kind.String())
	e.putClass(a, site.Group.Lock.Class)
	if site.Group.Stack != jvmthread.NoStack {
		at := e.waits.Site(site.Group.Stack)
		a.PutStr(attrFunction, at.Function)
		if at.Line > 0 {
			a.PutInt(attrLine, int64(at.Line))
		}
	}
	a.PutInt(attrPathTime, int64(site.Time))
	a.PutDouble(attrShare, float64(site.Time)/float64(path.End-path.Start))
}

// fail marks the span of a deadlock.
func fail(s ptrace.Span) {
	s.Status().SetCode(ptrace.StatusCodeError)
	s.Status().SetMessage("deadlock")
}
