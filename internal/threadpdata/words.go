// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
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
		return e.joinName(iv.Peer, k.timedOut)
	}
	name, ok := e.names[k]
	if ok {
		return name
	}
	name = words[k.state].verb
	if k.class != jvmthread.NoClass {
		name += " " + e.simpleName(k.class)
	}
	if k.timedOut {
		name += " (timed out)"
	}
	e.names[k] = name
	return name
}

func (e *Emitter) joinName(id jvmthread.ThreadID, timedOut bool) string {
	name := words[jvmthread.StateJoining].verb + " " + e.threadName(id)
	if timedOut {
		name += " (timed out)"
	}
	return name
}

// simpleName is a class without its package. Locks of java.util.concurrent block on an inner class; people know the outer one.
func (e *Emitter) simpleName(class jvmthread.ClassID) string {
	n := e.sym.Class(class)
	if n == "" {
		n = "?"
	}
	n = n[strings.LastIndexByte(n, '.')+1:]
	for _, inner := range []string{"$NonfairSync", "$FairSync", "$Sync"} {
		n = strings.TrimSuffix(n, inner)
	}
	return n
}

func (e *Emitter) threadName(id jvmthread.ThreadID) string {
	if n := e.sym.Thread(id).Name; n != "" {
		return n
	}
	return "thread " + strconv.FormatUint(uint64(id), 10)
}

// explain says in words what a link says: Jaeger's page shows a link without its attributes.
func (e *Emitter) explain(ia *jvmthread.Interaction) {
	b := &e.text
	if b.Len() > 0 {
		b.WriteString("; ")
	}
	who := e.threadName(ia.From.Thread)
	switch ia.Kind {
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
		b.WriteString(" at " + p.function)
		if p.line > 0 {
			b.WriteString(":" + strconv.Itoa(p.line))
		}
	}
	if d := ia.Latency(); d > 0 {
		b.WriteString(", " + d.String() + " before")
	}
	if ia.Confidence != jvmthread.ConfidenceExact {
		b.WriteString(" (" + ia.Confidence.String() + ")")
	}
}

// place is where in the code a stack begins, seen by somebody who knows what wait and park are.
type place struct {
	function string
	file     string
	line     int
}

// place finds the first frame of a stack that is not of the waiting itself.
func (e *Emitter) place(id jvmthread.StackID) place {
	if p, ok := e.places[id]; ok {
		return p
	}
	p := findPlace(e.sym.Stack(id))
	e.places[id] = p
	return p
}

func findPlace(stack string) place {
	var first place
	for line := range strings.Lines(stack) {
		p, ok := parseFrame(strings.TrimSpace(line))
		if !ok {
			continue
		}
		if !isWaiting(p.function) {
			return p
		}
		if first.function == "" {
			first = p
		}
	}
	return first
}

// isWaiting tells the methods of the JDK that wait, wake or start from those that use them.
func isWaiting(function string) bool {
	for _, prefix := range []string{
		"java.lang.Object.", "java.lang.Thread.", "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.", "sun.misc.Unsafe.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// parseFrame reads a line such as "at com.acme.OrderBook.add(OrderBook.java:42)".
func parseFrame(s string) (p place, ok bool) {
	s, ok = strings.CutPrefix(s, "at ")
	open := strings.IndexByte(s, '(')
	if !ok || open < 0 || !strings.HasSuffix(s, ")") {
		return place{}, false
	}
	p.function = s[:open]
	where := s[open+1 : len(s)-1]
	if colon := strings.LastIndexByte(where, ':'); colon >= 0 {
		if n, err := strconv.Atoi(where[colon+1:]); err == nil {
			p.file, p.line = where[:colon], n
		}
	} else if where != "Native Method" && where != "Unknown Source" {
		p.file = where
	}
	return p, true
}
