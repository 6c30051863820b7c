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

// nameOf is the element for each kind of event that a trace can represent.
var nameOf = [jvmthread.NumKinds]string{
	jvmthread.KindThreadStart: "threadStart", jvmthread.KindThreadEnd: "threadEnd", jvmthread.KindStartCalled: "callStart",
	jvmthread.KindInterruptCalled: "callInterrupt", jvmthread.KindInterrupted: "threadInterrupted",
	jvmthread.KindContendedEnter: "monContendedEnter", jvmthread.KindContendedEntered: "monContendedEntered",
	jvmthread.KindWait: "monWait", jvmthread.KindJoinStart: "monWait", jvmthread.KindSleepStart: "monWait",
	jvmthread.KindWaited: "monWaited", jvmthread.KindSleepEnd: "monWaited",
	jvmthread.KindNotify: "callNotify", jvmthread.KindNotifyAll: "callNotify",
}

// findElement returns the element with a name in the DTD, or with the title of a section in the design, noElement if there is none. A switch is several times faster than a table.
func findElement(name []byte) element {
	switch string(name) {
	case "monContendedEnter":
		return monContendedEnter
	case "monContendedEntered":
		return monContendedEntered
	case "monWait":
		return monWait
	case "monWaited":
		return monWaited
	case "threadStart":
		return threadStart
	case "threadEnd":
		return threadEnd
	case "callStart", "threadStartCalled":
		return callStart
	case "callInterrupt", "threadInterruptCalled":
		return callInterrupt
	case "callNotify", "monNotifyCalled":
		return callNotify
	case "threadInterrupted":
		return threadInterrupted
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
