// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// description is what a span says in words.
type description struct {
	name        string
	explanation string // of the links, since Jaeger's page does not show their attributes
	site        *waits.Site
	ownerSite   *waits.Site // where the owner of the lock was
}

// describe puts a span into words.
func (e *Emitter) describe(p *plan) {
	switch p.kind { //exhaustive:enforce
	case rootSpan:
		p.name = "threads"
	case pathSpan:
		p.name = "critical path"
	case segmentSpan:
		p.name = e.threadName(p.segment.Thread) + ": " + e.segmentName(p)
		p.explanation = e.waitsFor(p.segment)
	case threadSpan:
		p.name = e.threadName(p.thread.Thread)
	case intervalSpan:
		p.site, p.ownerSite = e.waits.Site(p.iv.Stack), e.waits.Site(p.detail.OwnerStack)
		p.name = e.intervalName(p.iv)
		p.explanation = e.explanation(p)
	}
}

// segmentName is what the thread was doing, or why the path does not lead any further.
func (e *Emitter) segmentName(p *plan) string {
	switch kind := p.segment.Kind; kind { //exhaustive:enforce
	case criticalpath.KindRun:
		return "runnable"
	case criticalpath.KindWakeLatency:
		return "wake-up latency"
	case criticalpath.KindStartLatency:
		return "start-up latency"
	case criticalpath.KindCycle, criticalpath.KindTooDeep, criticalpath.KindCut:
		return "unexplained (" + kind.String() + ")"
	case criticalpath.KindUnknown, criticalpath.KindSleep, criticalpath.KindSuspended, criticalpath.KindBlockedUnknown,
		criticalpath.KindWaitUnknown, criticalpath.KindTimer, criticalpath.KindDeadlock:
	}
	if p.hasOther {
		return e.intervalName(&p.other)
	}
	return "unknown"
}

// waitsFor lists the waits through which a segment is on the path.
func (e *Emitter) waitsFor(seg *criticalpath.Segment) string {
	e.text.Reset()
	for wait := range e.window.Verdict.Path.Chain(*seg) {
		if e.text.Len() > 0 {
			e.text.WriteString(", ")
		}
		name := wording.Title(wait.State, wait.Kind, e.object(wait.Kind, wait.Lock.Class, wait.Stack), false)
		if iv, ok := e.window.Interval(wait.Ref); ok && wait.State == jvmthread.StateJoining {
			name = e.intervalName(&iv) // has the thread that it joins
		}
		e.text.WriteString("while " + e.threadName(wait.Ref.Thread) + " was in: " + name)
	}
	return e.text.String()
}

// nameKey is what the name of an interval depends on, unless it joins a thread.
type nameKey struct {
	class    jvmthread.ClassID
	stack    jvmthread.StackID
	state    jvmthread.State
	wait     jvmthread.Wait
	timedOut bool
}

func (e *Emitter) intervalName(iv *jvmthread.Interval) string {
	k := nameKey{iv.Lock.Class, iv.Stack, iv.State, iv.Wait, iv.Marks.Has(jvmthread.MarkTimedOut)}
	if iv.State == jvmthread.StateJoining {
		return wording.Title(iv.State, iv.Wait, e.threadName(iv.Peer), k.timedOut)
	}
	name, ok := e.names[k]
	if ok {
		return name
	}
	name = wording.Title(k.state, k.wait, e.object(k.wait, k.class, k.stack), k.timedOut)
	e.names[k] = name
	return name
}

// object returns what a wait is for.
func (e *Emitter) object(w jvmthread.Wait, class jvmthread.ClassID, stack jvmthread.StackID) string {
	site := e.waits.Site(stack)
	return wording.Object(w, e.sym.Class(class), site.Lock, site.Entry)
}

// explanation says who held the lock during an interval, what unblocked it, and whom it waits for in a deadlock.
func (e *Emitter) explanation(p *plan) string {
	e.text.Reset()
	if len(p.holders) > 0 {
		h := &p.holders[0]
		e.text.WriteString(wording.Held(e.threadName(h.Thread), h.Share(time.Duration(p.exact)), e.doing(p, h)))
	}
	for i := range p.causes {
		e.explain(&p.causes[i])
	}
	if p.next != jvmthread.NoThread {
		if e.text.Len() > 0 {
			e.text.WriteString("; ")
		}
		e.text.WriteString("waits for " + e.threadName(p.next) + ", which waits for it in a cycle")
	}
	return e.text.String()
}

func (e *Emitter) explain(ia *jvmthread.Interaction) {
	b := &e.text
	if b.Len() > 0 {
		b.WriteString("; ")
	}
	from := e.threadName(ia.From.Thread)
	switch ia.Kind { //exhaustive:enforce
	case jvmthread.InteractionStart:
		b.WriteString("started by " + from)
	case jvmthread.InteractionHandoff:
		b.WriteString("got " + e.simpleName(ia.Lock.Class) + " from " + from)
	case jvmthread.InteractionNotify, jvmthread.InteractionNotifyAll:
		b.WriteString("notified by " + from)
	case jvmthread.InteractionInterrupt:
		b.WriteString("interrupted by " + from)
	case jvmthread.InteractionJoin:
		b.WriteString(from + " ended")
	case jvmthread.InteractionUnpark:
		b.WriteString("unparked by " + from)
	case jvmthread.InteractionNone:
	}
	if ia.Stack != jvmthread.NoStack {
		at := e.waits.Site(ia.Stack)
		b.WriteString(" at " + at.Function)
		if at.Line > 0 {
			b.WriteString(":" + strconv.Itoa(at.Line))
		}
	}
	if d := ia.Latency(); d > 0 {
		b.WriteString(", " + d.String() + " before")
	}
	if ia.Confidence != jvmthread.ConfidenceExact {
		b.WriteString(" (" + ia.Confidence.String() + ")")
	}
}

// doing says what the holder of a lock did while the thread waited.
func (e *Emitter) doing(p *plan, h *window.Holder) string {
	iv := &h.Doing
	if iv.Seq == jvmthread.NoSeq {
		return ""
	}
	return wording.Doing(iv.State, iv.Wait, e.object(iv.Wait, iv.Lock.Class, iv.Stack), e.holderFunction(p, h))
}

// holderFunction returns where the holder of a lock was. A running thread has no stack, but the agent may have taken that of the owner when
// the wait began, or that of the release, which says only in which method of the application it was: the library's is the release itself.
func (e *Emitter) holderFunction(p *plan, h *window.Holder) string {
	stack := h.Doing.Stack
	if h.Doing.Wait == jvmthread.WaitNone && h.Thread == p.iv.Peer {
		stack = p.detail.OwnerStack
	}
	if stack != jvmthread.NoStack {
		return e.waits.Site(stack).Function
	}
	for i := range p.causes {
		if p.causes[i].From.Thread == h.Thread && p.causes[i].Stack != jvmthread.NoStack {
			if site := e.waits.Site(p.causes[i].Stack); site.Own {
				return site.Function
			}
			break
		}
	}
	return ""
}

// holders lists the threads that held the lock during a wait, with their shares.
func (e *Emitter) holders(p *plan) string {
	e.text.Reset()
	for i := range p.holders[:min(len(p.holders), maxHolders)] {
		h := &p.holders[i]
		if i > 0 {
			e.text.WriteString(", ")
		}
		e.text.WriteString(e.threadName(h.Thread) + " " + wording.Percent(h.Share(time.Duration(p.exact))))
	}
	if len(p.holders) > maxHolders {
		e.text.WriteString(", ...")
	}
	return e.text.String()
}

// maxHolders bounds the holders that a span lists.
const maxHolders = 8

// handoffRun lists the first threads of a run of handoffs and the last one: a -> b -> ... -> z.
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

// cycle lists the threads of a deadlock and the locks they wait for: a -> OrderBook -> b -> Account -> a.
func (e *Emitter) cycle(f *deadlock.Found) string {
	e.text.Reset()
	for i := range f.Waits {
		e.text.WriteString(e.threadName(f.Waits[i].Thread) + " -> " + e.simpleName(f.Waits[i].Lock.Class) + " -> ")
	}
	e.text.WriteString(e.threadName(f.Waits[0].Thread))
	return e.text.String()
}

// hint says which threads took two locks in which order.
func (e *Emitter) hint(h *deadlock.Hint) string {
	first, second := e.simpleName(h.First.Class), e.simpleName(h.Second.Class)
	return fmt.Sprintf("%s held %s and wanted %s; %s held %s and wanted %s, %v later: a potential deadlock",
		e.threadName(h.Holder), first, second, e.threadName(h.Other), second, first, h.At.Sub(h.Before))
}

func (e *Emitter) simpleName(class jvmthread.ClassID) string {
	return wording.SimpleClass(e.sym.Class(class))
}

func (e *Emitter) threadName(id jvmthread.ThreadID) string {
	return wording.ThreadName(e.sym.Thread(id).Name, id)
}
