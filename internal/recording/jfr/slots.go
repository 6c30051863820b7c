// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

// slot is the place of a value that is wanted, among those that a plan reads.
type slot uint8

// The slots; those from slotName on hold texts.
const (
	slotNone slot = iota
	slotStart
	slotDuration
	slotThread // on which the event happened
	slotStack
	slotClass
	slotPeer
	slotAddress
	slotTimeout
	slotUntil
	slotTimedOut
	slotTarget   // the thread that starts or ends
	slotID       // of a thread, or of the type that a setting is for
	slotGroup    // of a thread, and its parent
	slotVirtual  // is it a virtual thread?
	slotMethod   // of a frame
	slotLine     // of a frame
	slotBCI      // of a frame
	slotKind     // of a frame
	slotCut      // was a stack deeper?
	slotFrames   // of a stack
	slotPID      //
	slotJVMStart //
	slotAmount   // bytes lost
	slotName     // of a thread, a class, a method, a setting, ...
	slotOSName   // of a thread
	slotValue    // of a setting
	slotVersion  // of a JVM
	slotCommand  // of a JVM
	numSlots
)

const numTexts = int(numSlots - slotName)

func (s slot) isText() bool { return s >= slotName }
func (s slot) text() int    { return int(s - slotName) }

// eventKind is what an event is to us.
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
	kindSetting
	kindJVM
	kindLoss
	kindShutdown
	numKinds
)

// wantedEvents names the events and fields that are read.
var wantedEvents = [numKinds]struct {
	name   string
	fields map[string]slot
}{
	kindEnter:        {"jdk.JavaMonitorEnter", with(lock("monitorClass"), "previousOwner", slotPeer)},
	kindWait:         {"jdk.JavaMonitorWait", with(with(with(lock("monitorClass"), "notifier", slotPeer), "timeout", slotTimeout), "timedOut", slotTimedOut)},
	kindPark:         {"jdk.ThreadPark", with(with(lock("parkedClass"), "timeout", slotTimeout), "until", slotUntil)},
	kindSleep:        {"jdk.ThreadSleep", with(every(), "time", slotTimeout)},
	kindStart:        {"jdk.ThreadStart", with(with(every(), "thread", slotTarget), "parentThread", slotPeer)},
	kindEnd:          {"jdk.ThreadEnd", with(every(), "thread", slotTarget)},
	kindNotify:       {"jdk.JavaMonitorNotify", lock("monitorClass")},
	kindVirtualStart: {"jdk.VirtualThreadStart", with(every(), "javaThreadId", slotID)},
	kindVirtualEnd:   {"jdk.VirtualThreadEnd", with(every(), "javaThreadId", slotID)},
	kindPinned:       {"jdk.VirtualThreadPinned", every()},
	kindSetting:      {"jdk.ActiveSetting", map[string]slot{"id": slotID, "name": slotName, "value": slotValue}},
	kindJVM: {"jdk.JVMInformation", map[string]slot{
		"jvmName": slotName, "jvmVersion": slotVersion, "javaArguments": slotCommand, "jvmStartTime": slotJVMStart, "pid": slotPID,
	}},
	kindLoss:     {"jdk.DataLoss", map[string]slot{"startTime": slotStart, "amount": slotAmount}},
	kindShutdown: {"jdk.Shutdown", map[string]slot{"startTime": slotStart}},
}

func every() map[string]slot {
	return map[string]slot{"startTime": slotStart, "duration": slotDuration, "eventThread": slotThread, "stackTrace": slotStack}
}

func lock(class string) map[string]slot {
	return with(with(every(), class, slotClass), "address", slotAddress)
}

func with(fields map[string]slot, name string, s slot) map[string]slot {
	fields[name] = s
	return fields
}
