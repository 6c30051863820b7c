// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp

// element is one of the ten.
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

// findElement finds an element by its name in the DTD, or by the title of its section in the design where that is another.
func findElement(name []byte) (e element, ok bool) {
	switch string(name) {
	case "monContendedEnter":
		e = monContendedEnter
	case "monContendedEntered":
		e = monContendedEntered
	case "monWait":
		e = monWait
	case "monWaited":
		e = monWaited
	case "threadStart":
		e = threadStart
	case "threadEnd":
		e = threadEnd
	case "callStart", "threadStartCalled":
		e = callStart
	case "callInterrupt", "threadInterruptCalled":
		e = callInterrupt
	case "callNotify", "monNotifyCalled":
		e = callNotify
	case "threadInterrupted":
		e = threadInterrupted
	}
	return e, e != noElement
}

// Annotations that this program writes, for what the elements have no attributes for.
const (
	noteClass       = "weft.class"       // of the lock
	noteStack       = "weft.stack"       // of the event's thread
	noteDaemon      = "weft.daemon"      // of the thread that starts
	noteVirtual     = "weft.virtual"     // of the thread that starts
	noteInterrupted = "weft.interrupted" // the sleep ended by an InterruptedException
)

// instruction is the processing instruction that marks traces of this program: they say themselves which sleep was interrupted.
const instruction = "weft-trace"

// threadObject is the object id that this program gives the object of a thread: above all hash codes.
const threadObject = 1 << 32

// nameLength returns the length of the name at the front of text.
func nameLength(text []byte) int {
	for n, c := range text {
		if !nameChars[c] {
			return n
		}
	}
	return len(text)
}

var nameChars = func() (table [256]bool) {
	for c := range table {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		table[c] = letter || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == ':' || c >= 0x80
	}
	return table
}()
