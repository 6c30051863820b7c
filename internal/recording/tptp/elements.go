// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// element is an element of a trace.
type element uint8

const (
	noElement element = iota
	monContendedEnter
	monContendedEntered
	monWait
	monWaited
	threadStart
	threadEnd
	callStart
	callInterrupt
	callNotify
	threadInterrupted
	annotation // inside the others
)

// elements lists the names of elements in the DTD, and the titles of their sections in the design where those differ.
var elements = [...]struct{ name, title string }{
	monContendedEnter:   {name: "monContendedEnter"},
	monContendedEntered: {name: "monContendedEntered"},
	monWait:             {name: "monWait"},
	monWaited:           {name: "monWaited"},
	threadStart:         {name: "threadStart"},
	threadEnd:           {name: "threadEnd"},
	callStart:           {"callStart", "threadStartCalled"},
	callInterrupt:       {"callInterrupt", "threadInterruptCalled"},
	callNotify:          {"callNotify", "monNotifyCalled"},
	threadInterrupted:   {name: "threadInterrupted"},
}

// elementOf maps the kinds of events that a trace can represent.
var elementOf = [jvmthread.NumKinds]element{
	jvmthread.KindThreadStart: threadStart, jvmthread.KindThreadEnd: threadEnd, jvmthread.KindStartCalled: callStart,
	jvmthread.KindInterruptCalled: callInterrupt, jvmthread.KindInterrupted: threadInterrupted,
	jvmthread.KindContendedEnter: monContendedEnter, jvmthread.KindContendedEntered: monContendedEntered,
	jvmthread.KindWait: monWait, jvmthread.KindJoinStart: monWait, jvmthread.KindSleepStart: monWait,
	jvmthread.KindWaited: monWaited, jvmthread.KindSleepEnd: monWaited,
	jvmthread.KindNotify: callNotify, jvmthread.KindNotifyAll: callNotify,
}

// findElement returns the element with a name or title, noElement if there is none.
func findElement(name []byte) element {
	for e := range elements {
		if s := &elements[e]; len(name) > 0 && (s.name == string(name) || s.title == string(name)) {
			return element(e)
		}
	}
	return noElement
}

// Annotations written by this program, for properties without an attribute.
const (
	noteClass       = "weft.class"       // of the lock
	noteStack       = "weft.stack"       // of the event's thread
	noteDaemon      = "weft.daemon"      // of the thread that starts
	noteVirtual     = "weft.virtual"     // of the thread that starts
	noteInterrupted = "weft.interrupted" // the sleep ended by an InterruptedException
)

// instruction is the processing instruction that marks traces of this program: they state which sleep was interrupted.
const instruction = "weft-trace"

// threadObject is the difference between a thread's id and the id of its object in traces of this program: above all hash codes.
const threadObject = 1 << 32

// note is an annotation.
type note struct {
	open  bool
	name  string
	value []byte
}

// characters is called for the text between tags.
func (d *decoder) characters(text []byte, escaped bool) {
	if !d.note.open || d.open == noElement || len(d.note.value)+len(text) > d.Options.MaxRecord {
		return
	}
	if escaped {
		d.note.value = appendUnescaped(d.note.value, text)
	} else {
		d.note.value = append(d.note.value, text...)
	}
}

func (d *decoder) finishNote() {
	if !d.note.open {
		return
	}
	d.note.open = false
	if d.open == noElement {
		return
	}
	ev, value := &d.event, recording.Valid(d.note.value)
	switch d.note.name {
	case noteClass:
		ev.class = value
	case noteStack:
		ev.stack = value
	case noteDaemon:
		ev.daemon = value == "true"
	case noteVirtual:
		ev.virtual = value == "true"
	case noteInterrupted:
		ev.interrupted = value == "true"
	}
}
