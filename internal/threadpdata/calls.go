// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Limits of the calls that spans show.
const (
	maxCalls       = 1 << 16 // of a window
	maxThreadCalls = 128     // of a thread in a window
)

// Calls collects what threads did without waiting, for span events: calls of start, interrupt, notify, notifyAll, yield, suspend, resume and
// stop. One goroutine owns it.
type Calls struct {
	list    []jvmthread.Event // not shown yet, in the order of time, at most maxCalls
	shown   map[jvmthread.ThreadID][]int32
	dropped map[jvmthread.ThreadID]int // since the last window, because the list was full; nil: none
}

// See collects the calls among events, which are in the order of time.
func (c *Calls) See(events []jvmthread.Event) {
	for i := range events {
		ev := &events[i]
		switch {
		case nameOfCall[ev.Kind] == "":
		case len(c.list) < maxCalls:
			c.list = append(c.list, *ev)
		default:
			if c.dropped == nil {
				c.dropped = make(map[jvmthread.ThreadID]int)
			}
			c.dropped[ev.Thread]++
		}
	}
}

var nameOfCall = [jvmthread.NumKinds]string{
	jvmthread.KindStartCalled: "start", jvmthread.KindInterruptCalled: "interrupt", jvmthread.KindNotify: "notify",
	jvmthread.KindNotifyAll: "notify_all", jvmthread.KindYield: "yield", jvmthread.KindSuspend: "suspend", jvmthread.KindResume: "resume",
	jvmthread.KindStop: "stop",
}

type callKey struct {
	at     jvmthread.Time
	thread jvmthread.ThreadID
	kind   jvmthread.Kind
}

// begin finds the calls of a window that released no thread in it: the others are links.
func (c *Calls) begin(w *window.Window) (n int) {
	bound := make(map[callKey]struct{})
	for ia := range w.Interactions() {
		if kind := ia.Kind.Call(); kind != jvmthread.KindNone {
			bound[callKey{ia.CauseTime, ia.From.Thread, kind}] = struct{}{}
		}
	}
	c.shown = make(map[jvmthread.ThreadID][]int32)
	for i := range c.list {
		ev := &c.list[i]
		if ev.Time > w.End || ev.Time == w.End && !w.Cut.Last() {
			return i
		}
		if _, ok := bound[callKey{ev.Time, ev.Thread, ev.Kind}]; !ok && ev.Time >= w.Start {
			c.shown[ev.Thread] = append(c.shown[ev.Thread], int32(i))
		}
	}
	return len(c.list)
}

// end drops the first n calls.
func (c *Calls) end(n int) {
	c.list = append(c.list[:0], c.list[n:]...)
	c.shown, c.dropped = nil, nil
}

// without returns how many calls were made by threads that have no span in a window.
func (c *Calls) without(w *window.Window) (n int) {
	for _, shown := range c.shown {
		n += len(shown)
	}
	for _, dropped := range c.dropped {
		n += dropped
	}
	for _, l := range w.Lanes {
		if !l.Hidden {
			n -= len(c.shown[l.Thread]) + c.dropped[l.Thread]
		}
	}
	return n
}

// putCalls writes the calls of a thread as events of its span.
func (e *Emitter) putCalls(id jvmthread.ThreadID, s ptrace.Span) {
	if e.Calls == nil {
		return
	}
	shown := e.Calls.shown[id]
	for _, i := range shown[:min(len(shown), maxThreadCalls)] {
		e.putCall(&e.Calls.list[i], s)
	}
	if more := max(0, len(shown)-maxThreadCalls) + e.Calls.dropped[id]; more > 0 {
		s.Attributes().PutInt(attrFoldedCalls, int64(more))
	}
}

func (e *Emitter) putCall(ev *jvmthread.Event, s ptrace.Span) {
	a := addEvent(s, nameOfCall[ev.Kind], ev.Time)
	if ev.Peer != jvmthread.NoThread {
		e.putThread(a, attrCallThreadID, attrCallThreadName, ev.Peer)
	}
	if !ev.Lock.IsZero() {
		e.putLock(a, ev.Lock)
	}
	e.putCallSite(a, ev.Stack)
}

func (e *Emitter) putCallSite(a pcommon.Map, stack jvmthread.StackID) {
	if stack != jvmthread.NoStack {
		site := e.waits.Site(stack)
		putText(a, attrFunction, site.Function)
		if site.Line > 0 {
			a.PutInt(attrLine, int64(site.Line))
		}
	}
}
