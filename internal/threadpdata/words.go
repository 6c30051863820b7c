// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// nameKey is what the name of a span is made of.
type nameKey struct {
	class    jvmthread.ClassID
	state    jvmthread.State
	timedOut bool
}

// name is what a person reads in a list of spans.
func (e *Emitter) name(iv *jvmthread.Interval) string {
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

func (e *Emitter) simpleName(class jvmthread.ClassID) string {
	return wording.SimpleClass(e.sym.Class(class))
}

func (e *Emitter) threadName(id jvmthread.ThreadID) string {
	return wording.ThreadName(e.sym.Thread(id).Name, id)
}

// explain says in words what a link says: Jaeger's page shows a link without its attributes.
func (e *Emitter) explain(ia *jvmthread.Interaction) {
	b := &e.text
	if b.Len() > 0 {
		b.WriteString("; ")
	}
	who := e.threadName(ia.From.Thread)
	switch ia.Kind { //exhaustive:enforce
	case jvmthread.InteractionStart:
		b.WriteString("started by " + who)
	case jvmthread.InteractionHandoff:
		b.WriteString("got " + e.simpleName(ia.Lock.Class) + " from " + who)
	case jvmthread.InteractionNotify, jvmthread.InteractionNotifyAll:
		b.WriteString("notified by " + who)
	case jvmthread.InteractionInterrupt:
		b.WriteString("interrupted by " + who)
	case jvmthread.InteractionJoin:
		b.WriteString(who + " ended")
	case jvmthread.InteractionUnpark:
		b.WriteString("unparked by " + who)
	case jvmthread.InteractionNone:
	}
	if ia.Stack != jvmthread.NoStack {
		p := e.place(ia.Stack)
		b.WriteString(" at " + p.Function)
		if p.Line > 0 {
			b.WriteString(":" + strconv.Itoa(p.Line))
		}
	}
	if d := ia.Latency(); d > 0 {
		b.WriteString(", " + d.String() + " before")
	}
	if ia.Confidence != jvmthread.ConfidenceExact {
		b.WriteString(" (" + ia.Confidence.String() + ")")
	}
}

// place finds the first frame of a stack that is not of the waiting itself.
func (e *Emitter) place(id jvmthread.StackID) wording.Place {
	if p, ok := e.places[id]; ok {
		return p
	}
	p, _ := wording.FindPlace(e.sym.Stack(id))
	e.places[id] = p
	return p
}
