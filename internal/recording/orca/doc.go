// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package orca reads and writes the logs of the ORCA agent: a runtime log with one event per line, and metadata files that resolve the
// frames of its stacks. docs/formats/orca.md describes both, and how open questions of the specification are resolved.
package orca

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Extensions of the files of a recording. Metadata is in one file for classes and one for methods, and in one with both parts.
const (
	Extension        = ".orca"
	ExtensionMeta    = ".meta"
	ExtensionClasses = ".classtable"
	ExtensionMethods = ".method"
)

// SideFiles returns the extensions of the files that accompany a log.
func SideFiles() []string { return []string{ExtensionMeta, ExtensionClasses, ExtensionMethods} }

// Format returns the format of ORCA logs.
func Format() recording.Format {
	return recording.Format{Name: "orca", Extension: Extension, Match: Match, New: New, NewEncoder: NewEncoder, Carries: capabilities()}
}

func capabilities() (c recording.Capabilities) {
	for kind := range events {
		e := &events[kind]
		if e.name == "" {
			continue
		}
		fields := recording.FieldKind | recording.FieldTime
		if e.stack {
			fields |= recording.FieldStack
		}
		if e.object != noObject {
			fields |= recording.FieldLock
		}
		if e.owner || e.object == aThread {
			fields |= recording.FieldPeer
		}
		c.Events[kind].Fields = fields
	}
	c.Events[jvmthread.KindStartCalled].Fields &^= recording.FieldLock
	c.Threads = recording.ThreadName
	c.Notes = []string{
		"a wait ends when the monitor is owned again; the time of the notification is missing",
		"a thread has a name only if the recording includes its start",
		"no timeout of a wait, and no interrupt",
	}
	return c
}

// Match reports whether one of the first three lines looks like one of a log: a time, a comma, an event.
func Match(head []byte) bool {
	whole := len(head) < recording.HeadSize
	for range 3 {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		if !ended && !whole {
			return false
		}
		if _, n := parseStamp(line); n > 0 {
			name, _, _ := bytes.Cut(line[n:], []byte{','})
			if find(name) != jvmthread.KindNone {
				return true
			}
		}
		if head = rest; len(rest) == 0 {
			return false
		}
	}
	return false
}

// object is what the field after the thread identifies.
type object uint8

const (
	noObject object = iota
	aMonitor
	aThread
)

// event describes a kind of line.
type event struct {
	name   string
	object object
	owner  bool // followed by the owner of the monitor
	stack  bool
	named  bool // followed by the name of the thread, up to the end of the line
}

// events lists the kinds of lines. Other kinds of events have no name.
var events = [jvmthread.NumKinds]event{
	jvmthread.KindWait:             {name: "ObjectWait", object: aMonitor, stack: true},
	jvmthread.KindWaitReturned:     {name: "ObjectWaited", object: aMonitor, stack: true},
	jvmthread.KindNotify:           {name: "ObjectNotify", object: aMonitor, stack: true},
	jvmthread.KindNotifyAll:        {name: "ObjectNotifyAll", object: aMonitor, stack: true},
	jvmthread.KindStartCalled:      {name: "ThreadStart", object: aThread, stack: true},
	jvmthread.KindJoinStart:        {name: "ThreadJoin", object: aThread, stack: true},
	jvmthread.KindJoinEnd:          {name: "ThreadJoined", object: aThread, stack: true},
	jvmthread.KindSleepStart:       {name: "ThreadSleep", stack: true},
	jvmthread.KindSleepEnd:         {name: "ThreadSlept", stack: true},
	jvmthread.KindContendedEnter:   {name: "MonitorContendedEnter", object: aMonitor, owner: true, stack: true},
	jvmthread.KindContendedEntered: {name: "MonitorContendedEntered", object: aMonitor, stack: true},
	jvmthread.KindThreadStart:      {name: "ThreadStarted", named: true},
	jvmthread.KindThreadEnd:        {name: "ThreadEnded"},
}

// find returns the kind of event with the given name, or KindNone. A switch is several times faster than a table.
func find(name []byte) jvmthread.Kind {
	switch string(name) {
	case "ObjectWait":
		return jvmthread.KindWait
	case "ObjectWaited":
		return jvmthread.KindWaitReturned
	case "ObjectNotify":
		return jvmthread.KindNotify
	case "ObjectNotifyAll":
		return jvmthread.KindNotifyAll
	case "ThreadStart":
		return jvmthread.KindStartCalled
	case "ThreadJoin":
		return jvmthread.KindJoinStart
	case "ThreadJoined":
		return jvmthread.KindJoinEnd
	case "ThreadSleep":
		return jvmthread.KindSleepStart
	case "ThreadSlept":
		return jvmthread.KindSleepEnd
	case "MonitorContendedEnter":
		return jvmthread.KindContendedEnter
	case "MonitorContendedEntered":
		return jvmthread.KindContendedEntered
	case "ThreadStarted":
		return jvmthread.KindThreadStart
	case "ThreadEnded":
		return jvmthread.KindThreadEnd
	}
	return jvmthread.KindNone
}
