// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "maps"

// slot identifies a wanted value among those that a plan reads.
type slot uint8

// The slots. Those from slotName on hold strings.
const (
	slotNone slot = iota
	slotStart
	slotDuration
	slotThread // of the event
	slotStack
	slotClass
	slotPeer
	slotAddress
	slotTimeout
	slotUntil
	slotTimedOut
	slotTarget   // the thread that starts or ends
	slotID       // of a thread, or of the event type of a setting
	slotGroup    // of a thread or group
	slotVirtual  // of a thread
	slotMethod   // of a frame
	slotLine     // of a frame
	slotKind     // of a frame
	slotIndex    // of a frame, in the bytecode
	slotCut      // whether a stack is truncated
	slotFrames   // of a stack
	slotPID      //
	slotJVMStart //
	slotAmount   // of lost bytes
	slotPort     // of a peer
	slotName     // of a thread, a class, a method, a setting, a file; the address of a peer; ...
	slotOSName   // of a thread
	slotValue    // of a setting; the name of a peer
	slotVersion  // of a JVM
	slotCommand  // of a JVM
	slotType     // of a method
	numSlots
)

const numTexts = int(numSlots - slotName)

func (s slot) isText() bool { return s >= slotName }
func (s slot) text() int    { return int(s - slotName) }

// eventKind is a kind of wanted event.
type eventKind uint8

const (
	kindEnter eventKind = iota
	kindWait
	kindPark
	kindSleep
	kindStart
	kindEnd
	kindNotify
	kindVirtualStart
	kindVirtualEnd
	kindPinned
	kindSocketRead
	kindSocketWrite
	kindFileRead
	kindFileWrite
	kindFileForce
	kindPause
	kindSample
	kindSetting
	kindJVM
	kindLoss
	kindDump
	kindDeadlocked
	kindShutdown
	numKinds
)

// briefSlots suffice to know until when threads ran, and for what they waited.
var briefSlots = []slot{slotStart, slotDuration, slotThread, slotPeer, slotTarget, slotClass, slotAddress}

// fields maps the names of wanted fields to slots.
type fields map[string]slot

// wantedEvents lists the events and fields that are read.
var wantedEvents = [numKinds]struct {
	name   string
	fields fields
}{
	kindEnter: {"jdk.JavaMonitorEnter", timed(fields{"monitorClass": slotClass, "address": slotAddress, "previousOwner": slotPeer})},
	kindWait: {"jdk.JavaMonitorWait", timed(fields{
		"monitorClass": slotClass, "address": slotAddress, "notifier": slotPeer, "timeout": slotTimeout, "timedOut": slotTimedOut,
	})},
	kindPark: {"jdk.ThreadPark", timed(fields{
		"parkedClass": slotClass, "address": slotAddress, "timeout": slotTimeout, "until": slotUntil,
	})},
	kindSleep:        {"jdk.ThreadSleep", timed(fields{"time": slotTimeout})},
	kindStart:        {"jdk.ThreadStart", timed(fields{"thread": slotTarget, "parentThread": slotPeer})},
	kindEnd:          {"jdk.ThreadEnd", timed(fields{"thread": slotTarget})},
	kindNotify:       {"jdk.JavaMonitorNotify", timed(fields{"monitorClass": slotClass, "address": slotAddress})},
	kindVirtualStart: {"jdk.VirtualThreadStart", timed(fields{"javaThreadId": slotID})},
	kindVirtualEnd:   {"jdk.VirtualThreadEnd", timed(fields{"javaThreadId": slotID})},
	kindPinned:       {"jdk.VirtualThreadPinned", timed(fields{})},

	kindSocketRead:  {"jdk.SocketRead", timed(fields{"host": slotValue, "address": slotName, "port": slotPort})},
	kindSocketWrite: {"jdk.SocketWrite", timed(fields{"host": slotValue, "address": slotName, "port": slotPort})},
	kindFileRead:    {"jdk.FileRead", timed(fields{"path": slotName})},
	kindFileWrite:   {"jdk.FileWrite", timed(fields{"path": slotName})},
	kindFileForce:   {"jdk.FileForce", timed(fields{"path": slotName})},

	kindPause:   {"jdk.GCPhasePause", timed(fields{})},
	kindSample:  {"jdk.ExecutionSample", fields{"startTime": slotStart, "sampledThread": slotThread}},
	kindSetting: {"jdk.ActiveSetting", fields{"id": slotID, "name": slotName, "value": slotValue}},
	kindJVM: {"jdk.JVMInformation", fields{
		"jvmName": slotName, "jvmVersion": slotVersion, "javaArguments": slotCommand, "jvmStartTime": slotJVMStart, "pid": slotPID,
	}},
	kindLoss: {"jdk.DataLoss", fields{"startTime": slotStart, "amount": slotAmount}},
	kindDump: {"jdk.ThreadDump", fields{"startTime": slotStart, "result": slotName}},
	kindDeadlocked: {"datadog.DeadlockedThread", fields{
		"startTime": slotStart, "threadId": slotID, "threadName": slotName, "lockName": slotValue, "lockOwnerThreadId": slotPeer,
		"lockOwnerThreadName": slotOSName, "waitingFrame": slotCommand,
	}},
	kindShutdown: {"jdk.Shutdown", fields{"startTime": slotStart}},
}

// timed adds the fields of all events of threads.
func timed(f fields) fields {
	maps.Copy(f, fields{"startTime": slotStart, "duration": slotDuration, "eventThread": slotThread, "stackTrace": slotStack})
	return f
}
