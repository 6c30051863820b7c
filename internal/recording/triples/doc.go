// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package triples answers: which thread did what to which? It reads and writes lines such as
//
//	Thread-32452561, notify, Thread-60934352
//	Thread-60934352, wait, Thread-60934352, active 3068 ms
//
// as the article "Implementation of Java thread monitoring based on JVMTI" has them. They have no times: the decoder makes times that fit
// the order of the lines and the milliseconds in them. docs/formats/triples.md describes the format, with its doubts.
package triples

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format describes triples.
func Format() recording.Format {
	return recording.Format{Name: "triples", Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
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
		"no times: the order of events, and for how many milliseconds a thread was active before it waited",
		"a notify that woke nobody is not told, and one that woke several is told for each",
		"threads are numbers",
	}
	return c
}

// operation is what the word in the middle of a triple means.
type operation struct {
	name string
	kind jvmthread.Kind
	self bool // the thread does it to itself
}

// operations are those of the article: explicit ones (rows I7, I20) and those between threads that wait and notify (row I8).
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

func find(name []byte) *operation {
	for i := range operations {
		if bytes.EqualFold(name, []byte(operations[i].name)) {
			return &operations[i]
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
