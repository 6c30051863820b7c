// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package tptp reads and writes traces of the TPTP thread profiler: the ten XML elements of its design, in documents, fragments and growing
// streams. docs/formats/tptp.md describes them.
//
// It has its own XML scanner, which accepts input in pieces, tracks positions, resumes after malformed input, and is several times faster
// than encoding/xml (compare BenchmarkDecode and BenchmarkStandardXML). The scanner keeps no stack of open elements, so that nesting needs no
// memory, and expands only the predefined entities of XML.
package tptp

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format returns the format of TPTP traces.
func Format() recording.Format {
	return recording.Format{Name: "tptp", Extension: ".trcxml", Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
}

func capabilities() (c recording.Capabilities) {
	for kind := range elements {
		c.Events[kind].Fields = elements[kind].fields
	}
	c.Events[jvmthread.KindWaited].Flags = jvmthread.FlagTimedOut
	c.Events[jvmthread.KindSleepEnd].Flags = jvmthread.FlagInterrupted
	c.Events[jvmthread.KindInterrupted].Flags = jvmthread.FlagInterrupted
	c.Threads = recording.ThreadName | recording.ThreadGroup | recording.ThreadDaemon | recording.ThreadVirtual | recording.ThreadForeign
	c.Notes = []string{
		"a wait has one end: in traces of this program, when the thread left the wait set; when it owned the monitor again is missing",
		"the end of a join is the end of a wait on the joined thread's object",
		"a thread has a name only if the recording includes its start",
		"interrupted only if an InterruptedException was thrown",
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
		if name := rest[:n]; findElement(name) != jvmthread.KindNone || string(name) == root {
			return true
		}
	}
}

// root is the name of the root element of TPTP traces.
const root = "TRACE"
