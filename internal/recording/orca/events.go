// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

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
	kind   jvmthread.Kind
	object object
	owner  bool // followed by the owner of the monitor
	stack  bool
	named  bool // followed by the name of the thread, up to the end of the line
}

// events lists the kinds of lines.
var events = [...]event{
	{name: "ObjectWait", kind: jvmthread.KindWait, object: aMonitor, stack: true},
	{name: "ObjectWaited", kind: jvmthread.KindWaitReturned, object: aMonitor, stack: true},
	{name: "ObjectNotify", kind: jvmthread.KindNotify, object: aMonitor, stack: true},
	{name: "ObjectNotifyAll", kind: jvmthread.KindNotifyAll, object: aMonitor, stack: true},
	{name: "ThreadStart", kind: jvmthread.KindStartCalled, object: aThread, stack: true},
	{name: "ThreadJoin", kind: jvmthread.KindJoinStart, object: aThread, stack: true},
	{name: "ThreadJoined", kind: jvmthread.KindJoinEnd, object: aThread, stack: true},
	{name: "ThreadSleep", kind: jvmthread.KindSleepStart, stack: true},
	{name: "ThreadSlept", kind: jvmthread.KindSleepEnd, stack: true},
	{name: "MonitorContendedEnter", kind: jvmthread.KindContendedEnter, object: aMonitor, owner: true, stack: true},
	{name: "MonitorContendedEntered", kind: jvmthread.KindContendedEntered, object: aMonitor, stack: true},
	{name: "ThreadStarted", kind: jvmthread.KindThreadStart, named: true},
	{name: "ThreadEnded", kind: jvmthread.KindThreadEnd},
}

// find returns the event with the given name, or nil. A switch is several times faster than a table.
func find(name []byte) *event {
	var i int
	switch string(name) {
	case "ObjectWait":
		i = 0
	case "ObjectWaited":
		i = 1
	case "ObjectNotify":
		i = 2
	case "ObjectNotifyAll":
		i = 3
	case "ThreadStart":
		i = 4
	case "ThreadJoin":
		i = 5
	case "ThreadJoined":
		i = 6
	case "ThreadSleep":
		i = 7
	case "ThreadSlept":
		i = 8
	case "MonitorContendedEnter":
		i = 9
	case "MonitorContendedEntered":
		i = 10
	case "ThreadStarted":
		i = 11
	case "ThreadEnded":
		i = 12
	default:
		return nil
	}
	return &events[i]
}

// byKind indexes events by the kind that they represent.
var byKind = func() (table [jvmthread.NumKinds]*event) {
	for i := range events {
		table[events[i].kind] = &events[i]
	}
	return table
}()

// parseStamp parses the time at the start of a line, which may be in brackets, and the comma after it.
func parseStamp(line []byte) (t jvmthread.Time, n int) {
	open := 0
	if len(line) > 0 && line[0] == '[' {
		open = 1
	}
	t, n = recording.ParseTime(line[open:], time.Second)
	if n == 0 {
		return 0, 0
	}
	n += open
	if open > 0 && n < len(line) && line[n] == ']' {
		n++
	}
	if n >= len(line) || line[n] != ',' {
		return 0, 0
	}
	return t, n + 1
}
