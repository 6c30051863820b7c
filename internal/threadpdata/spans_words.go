// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"
	"strconv"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// description is what a span says in words.
type description struct {
	name        string
	explanation string // of the links, since Jaeger's page does not show their attributes
	place       wording.Place
	ownerPlace  wording.Place // where the owner of the lock was
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
		p.place, p.ownerPlace = e.place(p.iv.Stack), e.place(p.detail.OwnerStack)
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
		e.text.WriteString("while " + e.threadName(wait.Ref.Thread) + " was in: " + wording.Verb(wait.State))
		if wait.Lock.Class != jvmthread.NoClass {
			e.text.WriteString(" " + e.simpleName(wait.Lock.Class))
		}
	}
	return e.text.String()
}

// nameKey is what the name of an interval depends on, unless it joins a thread.
type nameKey struct {
	class    jvmthread.ClassID
	state    jvmthread.State
	timedOut bool
}

func (e *Emitter) intervalName(iv *jvmthread.Interval) string {
	k := nameKey{class: iv.Lock.Class, state: iv.State, timedOut: iv.Marks.Has(jvmthread.MarkTimedOut)}
	if iv.State == jvmthread.StateJoining {
		return wording.Title(iv.State, e.threadName(iv.Peer), k.timedOut)
	}
	name, ok := e.names[k]
	if ok {
		return name
	}
	object := ""
	if k.class != jvmthread.NoClass {
		object = e.simpleName(k.class)
	}
	name = wording.Title(k.state, object, k.timedOut)
	e.names[k] = name
	return name
}

// explanation says what unblocked an interval, who held its lock before, and whom it waits for in a deadlock.
func (e *Emitter) explanation(p *plan) string {
	e.text.Reset()
	for i := range p.causes {
		ia := &p.causes[i]
		e.explain(ia)
		if ia.Kind == jvmthread.InteractionHandoff && p.iv.State == jvmthread.StateBlocked && p.iv.Peer != jvmthread.NoThread {
			e.explainOwner(p, p.iv.Peer == ia.From.Thread)
		}
	}
	if p.next != jvmthread.NoThread {
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
		at := e.place(ia.Stack)
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

// explainOwner adds the thread that held the lock when the wait began, if that is not the one that handed it over, and what it was doing
// then, if it did not run.
func (e *Emitter) explainOwner(p *plan, same bool) {
	holder, state := "", ""
	if !same {
		holder = e.threadName(p.iv.Peer)
	}
	if p.hasOther && p.other.State.Stopped() {
		state = e.intervalName(&p.other)
	}
	e.text.WriteString(wording.Holder(holder, state))
}

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

// place finds the first frame of a stack that is not part of the wait itself.
func (e *Emitter) place(id jvmthread.StackID) wording.Place {
	if id == jvmthread.NoStack {
		return wording.Place{}
	}
	if p, ok := e.places[id]; ok {
		return p
	}
	p, _ := wording.FindPlace(e.sym.Stack(id))
	e.places[id] = p
	return p
}
