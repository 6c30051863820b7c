// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package triples reads and writes lines such as
//
//	Thread-32452561, notify, Thread-60934352
//	Thread-60934352, wait, Thread-60934352, active 3068 ms
//
// as printed in the article "Implementation of Java thread monitoring based on JVMTI". They have no times: the decoder generates times that
// match the order of the lines and the milliseconds in them. docs/formats/triples.md describes the format.
package triples

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format returns the format of triples.
func Format() recording.Format {
	return recording.Format{Name: "triples", Extension: ".triples", Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
}

func capabilities() (c recording.Capabilities) {
	for _, op := range operations {
		fields := recording.FieldKind
		if !op.self {
			fields |= recording.FieldPeer
		}
		c.Events[op.kind].Fields = fields
	}
	c.Notes = []string{
		"no times: only the order of events, and for how many milliseconds a thread was active before it waited",
		"a notify is written once for each thread that it woke, and not at all if it woke none",
		"threads are numbers, not names",
	}
	return c
}

// operation is the middle part of a triple.
type operation struct {
	name string
	kind jvmthread.Kind
	self bool // the thread operates on itself
}

// operations lists those of the article: explicit ones (rows I7, I20) and those of waiting and notifying threads (row I8).
var operations = [...]operation{
	{name: "start", kind: jvmthread.KindStartCalled},
	{name: "interrupt", kind: jvmthread.KindInterruptCalled},
	{name: "join", kind: jvmthread.KindJoinStart},
	{name: "resume", kind: jvmthread.KindResume},
	{name: "suspend", kind: jvmthread.KindSuspend},
	{name: "stop", kind: jvmthread.KindStop},
	{name: "notify", kind: jvmthread.KindNotify},
	{name: "notifyAll", kind: jvmthread.KindNotifyAll},
	{name: "sleep", kind: jvmthread.KindSleepStart, self: true},
	{name: "yield", kind: jvmthread.KindYield, self: true},
	{name: "wait", kind: jvmthread.KindWait, self: true},
}

// byKind indexes operations by the kind that they represent.
var byKind = func() (table [jvmthread.NumKinds]*operation) {
	for i := range operations {
		table[operations[i].kind] = &operations[i]
	}
	return table
}()

func find(name []byte) *operation {
	for i := range operations {
		if op := &operations[i]; len(op.name) == len(name) && bytes.EqualFold(name, []byte(op.name)) {
			return op
		}
	}
	return nil
}

// Match reports whether the first line is a triple.
func Match(head []byte) bool {
	line, _, ended := bytes.Cut(bytes.TrimLeft(head, "\r\n \xEF\xBB\xBF"), []byte{'\n'})
	if !ended && len(head) >= recording.HeadSize {
		return false
	}
	t, _, wrong := parse(line)
	return wrong == "" && find(t.operation) != nil
}
