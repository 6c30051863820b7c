// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/weft-otel/weft/internal/jvmthread"

// Magic opens a connection. The version, two zero bytes and the hello frame follow.
const Magic = "WEFT"

// Version is the version of the protocol. It changes only if an old reader could misread a new stream: new kinds of frames or events and
// longer records do not change it.
const Version = 1

// Sizes in bytes.
const (
	PreambleSize    = 8
	FrameHeaderSize = 8
	BatchHeaderSize = 24 // sequence, watermark, events before
	SectionSize     = 16 // thread, count, record size, reserved
	RecordSize      = 40 // of an event; readers use the size stated by the section and ignore trailing fields

	AggregateHeaderSize = BatchHeaderSize + 24 // from, to, scale, reserved
	SeriesSize          = 48                   // without the buckets (8 bytes each); readers use the total size stated by the series
)

// MaxFrame is the default limit on a frame's payload in bytes. An agent never sends a larger one.
const MaxFrame = 1 << 20

// MaxControl is the limit on the payload of a frame to the agent in bytes. A receiver never sends a larger one.
const MaxControl = 1 << 16

// MaxString is the maximum length of a string in bytes. The agent truncates longer ones.
const MaxString = 1<<16 - 1

// FrameKind is the kind of a frame. Kinds from 128 on are sent by the receiver.
type FrameKind uint16

// The kinds of frames.
const (
	FrameHello     FrameKind = 1
	FrameThread    FrameKind = 2
	FrameClass     FrameKind = 3
	FrameMethod    FrameKind = 4
	FrameStack     FrameKind = 5
	FrameBatch     FrameKind = 6
	FrameEnd       FrameKind = 7
	FrameStatus    FrameKind = 8
	FrameAggregate FrameKind = 9
	FrameIndex     FrameKind = 10
	FrameStackText FrameKind = 11
	FrameClock     FrameKind = 12
	FrameWelcome   FrameKind = 128
	FrameAck       FrameKind = 129
	FrameRefuse    FrameKind = 130
	FrameControl   FrameKind = 131
)

// FrameSpec describes a kind of frame.
type FrameSpec struct {
	Kind FrameKind
	Name string
	What string
}

// Frames is the table of frames.
var Frames = []FrameSpec{
	{FrameHello, "hello", "identifies the session; clocks, process, resource attributes"},
	{FrameThread, "thread", "defines a thread, or redefines it after its name changed"},
	{FrameClass, "class", "defines a class"},
	{FrameMethod, "method", "defines a method with its line table"},
	{FrameStack, "stack", "defines a call stack"},
	{FrameBatch, "batch", "events of one or more threads, and a watermark"},
	{FrameEnd, "end", "ends the session"},
	{FrameStatus, "status", "answers a control: error if any, and the current options"},
	{FrameAggregate, "aggregate", "a batch with sums, maxima and histograms of waits instead of events"},
	{FrameIndex, "index", "positions of the batches in a native recording; files only"},
	{FrameStackText, "stackText", "defines a call stack by its text; carriers only"},
	{FrameClock, "clock", "the wall clock and the monotonic clock, read again"},
	{FrameWelcome, "welcome", "accepts the session and states which batches the receiver already has"},
	{FrameAck, "ack", "acknowledges all batches up to this one"},
	{FrameRefuse, "refuse", "rejects the connection, with the reason"},
	{FrameControl, "control", "requests changes of options, or actions"},
}

// String returns the frame's name.
func (k FrameKind) String() string {
	for _, f := range Frames {
		if f.Kind == k {
			return f.Name
		}
	}
	return "unknown"
}

// Known reports whether this program knows the kind.
func (k FrameKind) Known() bool {
	for i := range Frames {
		if Frames[i].Kind == k {
			return true
		}
	}
	return false
}

// EventSpec describes which fields of a record are used by a kind of event. The others are zero.
type EventSpec struct {
	Kind  jvmthread.Kind
	Peer  string // meaning of Peer; empty if unused
	Lock  string
	Arg   string
	Stack bool // may have a stack
	What  string
}

// Events is the table of events, in the order of their numbers.
var Events = []EventSpec{
	{Kind: jvmthread.KindThreadStart, Peer: "starter", Stack: true, What: "the thread starts to run; starter and its stack only if there is no startCalled"},
	{Kind: jvmthread.KindThreadEnd, What: "the thread is about to die"},
	{Kind: jvmthread.KindStartCalled, Peer: "started", Stack: true, What: "call of Thread.start; timed at the call"},
	{Kind: jvmthread.KindInterruptCalled, Peer: "interrupted", Stack: true, What: "call of Thread.interrupt; timed at the call"},
	{Kind: jvmthread.KindInterrupted, Stack: true, What: "an InterruptedException was created (flag interrupted), or the interrupt status was cleared"},
	{Kind: jvmthread.KindContendedEnter, Peer: "owner", Lock: "monitor", Stack: true, What: "the thread blocks on a monitor"},
	{Kind: jvmthread.KindContendedEntered, Peer: "previous owner", Lock: "monitor", What: "the thread owns the monitor after having been blocked; previous owner only if known"},
	{Kind: jvmthread.KindWait, Lock: "object", Arg: "timeout", Stack: true, What: "start of Object.wait; the monitor is released"},
	{Kind: jvmthread.KindWaited, Peer: "notifier", Lock: "object", What: "the thread left the wait set but does not own the monitor yet; notifier only if known"},
	{Kind: jvmthread.KindWaitReturned, Lock: "object", What: "Object.wait returned; the thread owns the monitor again"},
	{Kind: jvmthread.KindNotify, Lock: "object", Stack: true, What: "call of Object.notify; timed at the call"},
	{Kind: jvmthread.KindNotifyAll, Lock: "object", Stack: true, What: "call of Object.notifyAll; timed at the call"},
	{Kind: jvmthread.KindJoinStart, Peer: "joined", Lock: "thread object", Arg: "timeout", Stack: true, What: "start of Thread.join: the thread waits for another to end"},
	{Kind: jvmthread.KindJoinEnd, Peer: "joined", Lock: "thread object", What: "Thread.join returned"},
	{Kind: jvmthread.KindSleepStart, Arg: "duration", Stack: true, What: "start of Thread.sleep"},
	{Kind: jvmthread.KindSleepEnd, What: "Thread.sleep returned"},
	{Kind: jvmthread.KindPark, Peer: "owner", Lock: "blocker", Arg: "timeout", Stack: true, What: "start of LockSupport.park"},
	{Kind: jvmthread.KindUnparked, What: "LockSupport.park returned"},
	{Kind: jvmthread.KindUnpark, Peer: "unparked", Stack: true, What: "call of LockSupport.unpark; timed at the call"},
	{Kind: jvmthread.KindYield, What: "call of Thread.yield"},
	{Kind: jvmthread.KindSuspend, Peer: "suspended", Stack: true, What: "call of Thread.suspend"},
	{Kind: jvmthread.KindResume, Peer: "resumed", Stack: true, What: "call of Thread.resume"},
	{Kind: jvmthread.KindStop, Peer: "stopped", Stack: true, What: "call of Thread.stop"},
	{Kind: jvmthread.KindMount, Peer: "carrier", What: "the virtual thread was mounted"},
	{Kind: jvmthread.KindUnmount, Peer: "carrier", What: "the virtual thread was unmounted"},
	{Kind: jvmthread.KindGap, Arg: "lost", What: "events of this thread were lost; timed at the first of them"},
	{Kind: jvmthread.KindContext, Peer: "trace id", Lock: "span id", Arg: "trace id", What: "the current span of the application from here on, or none"},
	{Kind: jvmthread.KindOwnerStack, Peer: "owner", Lock: "lock", Stack: true, What: "stack of the owner when the thread began to wait"},
	{Kind: jvmthread.KindCPU, Arg: "CPU time", What: "CPU time used by the thread so far"},
	{Kind: jvmthread.KindOwnerContext, Peer: "trace id", Lock: "span id", Arg: "trace id", What: "the current span of the owner when the thread began to wait"},
	{Kind: jvmthread.KindRequestEnd, Peer: "span id", Lock: "name", Arg: "duration", What: "the outermost span of a request that has waited is no longer current"},
	{Kind: jvmthread.KindRunning, Peer: "carrier", Arg: "duration", Stack: true, What: "the virtual thread has kept its carrier for that long since its mount, and where it is"},
	{Kind: jvmthread.KindRunQueue, Arg: "run-queue time", What: "time in which the thread could run and waited for a processor so far; a cpu with the same time follows"},
}

// ThreadFlags refine the definition of a thread.
type ThreadFlags uint16

// The flags of threads.
const (
	ThreadDaemon ThreadFlags = 1 << iota
	ThreadVirtual
	ThreadCarrier // virtual threads run on it
)

// StackTruncated marks a stack deeper than the agent's limit.
const StackTruncated uint16 = 1

// EndReason is the reason why a session ended.
type EndReason uint16

// The reasons for an end.
const (
	EndExit     EndReason = 1 // the JVM exited normally
	EndDetached EndReason = 2 // the agent was disabled
)

// RefuseCode is the machine-readable reason why a connection was refused. The message next to it is for people.
type RefuseCode uint16

// The codes of refusals.
const (
	RefuseVersion  RefuseCode = 1 // the receiver does not support this version
	RefuseLimit    RefuseCode = 2 // too many connections or sessions: try again later
	RefuseBadFrame RefuseCode = 3 // the agent violated the protocol
	RefuseShutdown RefuseCode = 4 // the receiver is shutting down: try again later

	// RefuseUnauthorized rejects an agent that does not prove its session or lacks valid credentials.
	RefuseUnauthorized RefuseCode = 5
)
