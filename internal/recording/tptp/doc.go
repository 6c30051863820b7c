// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package tptp answers: what does a trace of the TPTP thread profiler say? It reads and writes the ten XML elements of the profiler's
// design, in whole documents, in fragments and in streams that have no end yet. docs/formats/tptp.md describes them, with their doubts.
//
// The scanner is our own: it takes bytes as they come, knows where it is, goes on behind what is not well-formed, and costs a fraction of
// encoding/xml (see BenchmarkDecode and BenchmarkStandardXML). It keeps no stack of open elements, so that nesting costs nothing, and
// expands no entities but those that XML itself has.
package tptp

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format describes TPTP traces.
func Format() recording.Format {
	return recording.Format{Name: "tptp", Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
}

func capabilities() (c recording.Capabilities) {
	const (
		plain = recording.FieldKind | recording.FieldTime | recording.FieldStack
		lock  = plain | recording.FieldLock | recording.FieldClass
		peer  = recording.FieldPeer
		arg   = recording.FieldArg
	)
	for kind, fields := range map[jvmthread.Kind]recording.Fields{
		jvmthread.KindThreadStart: plain, jvmthread.KindThreadEnd: plain,
		jvmthread.KindStartCalled: plain | peer, jvmthread.KindInterruptCalled: plain | peer, jvmthread.KindInterrupted: plain,
		jvmthread.KindContendedEnter: lock | peer, jvmthread.KindContendedEntered: lock,
		jvmthread.KindWait: lock | arg, jvmthread.KindWaited: lock,
		jvmthread.KindNotify: lock, jvmthread.KindNotifyAll: lock,
		jvmthread.KindJoinStart: lock | peer | arg, jvmthread.KindSleepStart: plain | arg, jvmthread.KindSleepEnd: plain,
	} {
		c.Events[kind].Fields = fields
	}
	c.Events[jvmthread.KindWaited].Flags = jvmthread.FlagTimedOut
	c.Events[jvmthread.KindSleepEnd].Flags = jvmthread.FlagInterrupted
	c.Events[jvmthread.KindInterrupted].Flags = jvmthread.FlagInterrupted
	c.Threads = recording.ThreadName | recording.ThreadGroup | recording.ThreadDaemon | recording.ThreadVirtual
	c.Notes = []string{
		"a wait has one end only: when the thread left the wait set, in traces of this program; when it owned the monitor again is not told",
		"the end of a join is the end of a wait on the joined thread's object",
		"a thread has a name only if its start is in the recording",
		"interrupted only where an InterruptedException was thrown",
	}
	return c
}

// Match reports whether head looks like a trace: XML with one of the elements, or with the root element of TPTP.
func Match(head []byte) bool {
	head = bytes.ReplaceAll(head, []byte{0}, nil) // of UTF-16
	if at := bytes.IndexByte(head, '<'); at < 0 || at > 3 && len(bytes.TrimSpace(head[3:at])) > 0 {
		return false
	}
	for rest := head; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			return false
		}
		rest = rest[at+1:]
		n := nameLength(rest)
		if _, ok := findElement(rest[:n]); ok || string(rest[:n]) == root {
			return true
		}
	}
}

// root is the name that TPTP gives the element around a trace.
const root = "TRACE"
