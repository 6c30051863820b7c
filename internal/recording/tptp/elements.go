// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// elements lists, for each kind of event that a trace can represent, its element and what that carries.
var elements = [jvmthread.NumKinds]struct {
	name   string
	fields recording.Fields
}{
	jvmthread.KindThreadStart:      {"threadStart", plain},
	jvmthread.KindThreadEnd:        {"threadEnd", plain},
	jvmthread.KindStartCalled:      {"callStart", plain | recording.FieldPeer},
	jvmthread.KindInterruptCalled:  {"callInterrupt", plain | recording.FieldPeer},
	jvmthread.KindInterrupted:      {"threadInterrupted", plain},
	jvmthread.KindContendedEnter:   {"monContendedEnter", locked | recording.FieldPeer},
	jvmthread.KindContendedEntered: {"monContendedEntered", locked},
	jvmthread.KindWait:             {"monWait", locked | recording.FieldArg},
	jvmthread.KindJoinStart:        {"monWait", locked | recording.FieldPeer | recording.FieldArg},
	jvmthread.KindSleepStart:       {"monWait", plain | recording.FieldArg},
	jvmthread.KindWaited:           {"monWaited", locked},
	jvmthread.KindSleepEnd:         {"monWaited", plain},
	jvmthread.KindNotify:           {"callNotify", locked},
	jvmthread.KindNotifyAll:        {"callNotify", locked},
}

const (
	plain  = recording.FieldKind | recording.FieldTime | recording.FieldStack
	locked = plain | recording.FieldLock | recording.FieldClass
)

// findElement returns the kind of event that an element with this name in the DTD, or with the title of a section in the design, represents
// unless its attributes state another one. It returns KindNone if there is no such element. A switch is several times faster than a table.
func findElement(name []byte) jvmthread.Kind {
	switch string(name) {
	case "monContendedEnter":
		return jvmthread.KindContendedEnter
	case "monContendedEntered":
		return jvmthread.KindContendedEntered
	case "monWait":
		return jvmthread.KindWait
	case "monWaited":
		return jvmthread.KindWaited
	case "threadStart":
		return jvmthread.KindThreadStart
	case "threadEnd":
		return jvmthread.KindThreadEnd
	case "callStart", "threadStartCalled":
		return jvmthread.KindStartCalled
	case "callInterrupt", "threadInterruptCalled":
		return jvmthread.KindInterruptCalled
	case "callNotify", "monNotifyCalled":
		return jvmthread.KindNotify
	case "threadInterrupted":
		return jvmthread.KindInterrupted
	}
	return jvmthread.KindNone
}

// annotation stands for an annotation, which is inside another element, in place of a kind of event.
const annotation = jvmthread.Kind(jvmthread.NumKinds)

// unitOf returns the unit of times in a trace.
func unitOf(times recording.Times) time.Duration {
	if times.Unit <= 0 || times.Unit > time.Second {
		return time.Second
	}
	return times.Unit
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
	if !d.note.open || d.open == jvmthread.KindNone || len(d.note.value)+len(text) > d.Options.MaxRecord {
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
	if d.open == jvmthread.KindNone {
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
