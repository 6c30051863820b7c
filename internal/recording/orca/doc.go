// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package orca answers: what does an ORCA log say? It reads and writes the runtime log, an event a line, and the metadata beside it, by
// which the places in stacks are found. docs/formats/orca.md describes both, with their doubts.
package orca

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Extensions of the files beside a log "x.orca". One file with both parts of the metadata is x.meta, as this program writes it.
const (
	Extension        = ".orca"
	ExtensionMeta    = ".meta"
	ExtensionClasses = ".classtable"
	ExtensionMethods = ".method"
)

// Format describes ORCA logs.
func Format() recording.Format {
	return recording.Format{Name: "orca", Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
}

func capabilities() (c recording.Capabilities) {
	const plain = recording.FieldKind | recording.FieldTime
	const stack = plain | recording.FieldStack
	for i := range events {
		e := &events[i]
		fields := plain
		if e.stack {
			fields |= recording.FieldStack
		}
		if e.object != noObject {
			fields |= recording.FieldLock
		}
		if e.owner || e.object == aThread {
			fields |= recording.FieldPeer
		}
		c.Events[e.kind].Fields |= fields
	}
	c.Events[jvmthread.KindStartCalled].Fields = stack | recording.FieldPeer
	c.Threads = recording.ThreadName
	c.Notes = []string{
		"a wait ends when the monitor is owned again; when it was notified is not told",
		"a thread has a name only if its start is in the recording",
		"no time-out of a wait, and no interrupt",
	}
	return c
}

// Match reports whether the first lines look like a log: a time, a comma, an event.
func Match(head []byte) bool {
	whole := len(head) < recording.HeadSize
	for range 3 {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		if !ended && !whole {
			return false
		}
		if _, n := parseStamp(line); n > 0 {
			name, _, _ := bytes.Cut(line[n:], []byte{','})
			if find(name) != nil {
				return true
			}
		}
		if head = rest; len(rest) == 0 {
			return false
		}
	}
	return false
}
