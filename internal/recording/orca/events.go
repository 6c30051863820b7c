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
