// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import "github.com/weft-otel/weft/internal/jvmthread"

// Magic opens a connection; the version, two zero bytes and the hello frame follow it.
const Magic = "WEFT"

// Version of the protocol. It changes only if an old reader could misread a new stream; a new kind of frame or event, or a longer record,
// does not change it.
const Version = 1

// Sizes in bytes.
const (
	PreambleSize    = 8
	FrameHeaderSize = 8
	BatchHeaderSize = 24 // sequence, watermark, events before
	SectionSize     = 16 // thread, count, record size, reserved
	RecordSize      = 40 // of an event; a reader takes the record's size from its section and ignores what it does not know

	AggregateHeaderSize = BatchHeaderSize + 24 // from, to, scale, reserved
	SeriesSize          = 48                   // of a series without its buckets, of 8 bytes each; a reader takes the whole size from the series
)

// MaxFrame is the default limit on a frame's payload. An agent never sends more.
const MaxFrame = 1 << 20

// MaxControl is the limit on the payload of a frame to the agent. A receiver never sends more.
const MaxControl = 1 << 16

// MaxString is the longest string in bytes; the agent cuts longer ones.
const MaxString = 1<<16 - 1

// FrameKind says what a frame is. Numbers from 128 on go from the receiver to the agent.
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
	{FrameHello, "hello", "who speaks: session, clocks, process, resource attributes"},
	{FrameThread, "thread", "defines a thread, or defines it anew when its name changed"},
	{FrameClass, "class", "defines a class"},
	{FrameMethod, "method", "defines a method with its line table"},
	{FrameStack, "stack", "defines a call stack"},
	{FrameBatch, "batch", "events of one or more threads, and a watermark"},
	{FrameEnd, "end", "the session is over"},
	{FrameStatus, "status", "answers a control: what went wrong, and the options now in effect"},
	{FrameAggregate, "aggregate", "a batch with sums, maxima and histograms of waits in place of events"},
	{FrameIndex, "index", "where the batches of a native recording are; in files only"},
	{FrameWelcome, "welcome", "the receiver takes the session, and says what it already has of it"},
	{FrameAck, "ack", "all batches up to this one need not be sent again"},
	{FrameRefuse, "refuse", "the receiver does not take the connection, and says why"},
	{FrameControl, "control", "options that the agent is to change, and things it is to do"},
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

// EventSpec describes which fields of a record mean something for a kind of event; the others are zero.
type EventSpec struct {
	Kind  jvmthread.Kind
	Peer  string // what Peer is; empty: not used
	Lock  string
	Arg   string
	Stack bool // a stack may be taken
	What  string
}

// Events is the table of events, in the order of their numbers.
var Events = []EventSpec{
	{Kind: jvmthread.KindThreadStart, Peer: "starter", Stack: true, What: "the thread begins to run; starter and its stack only if there is no startCalled"},
	{Kind: jvmthread.KindThreadEnd, What: "the thread is about to die"},
	{Kind: jvmthread.KindStartCalled, Peer: "started", Stack: true, What: "Thread.start was called; the time is that of the call"},
	{Kind: jvmthread.KindInterruptCalled, Peer: "interrupted", Stack: true, What: "Thread.interrupt was called"},
	{Kind: jvmthread.KindInterrupted, Stack: true, What: "an InterruptedException was made (flag interrupted), or the flag was consumed"},
	{Kind: jvmthread.KindContendedEnter, Peer: "owner", Lock: "monitor", Stack: true, What: "the thread blocks on a monitor"},
	{Kind: jvmthread.KindContendedEntered, Peer: "owner before", Lock: "monitor", What: "the thread owns the monitor after having been blocked; owner before only if it is known"},
	{Kind: jvmthread.KindWait, Lock: "object", Arg: "timeout", Stack: true, What: "Object.wait begins; the monitor is released"},
	{Kind: jvmthread.KindWaited, Peer: "notifier", Lock: "object", What: "the thread left the wait set; it does not own the monitor yet; notifier only if it is known"},
	{Kind: jvmthread.KindWaitReturned, Lock: "object", What: "Object.wait returned; the thread owns the monitor again"},
	{Kind: jvmthread.KindNotify, Lock: "object", Stack: true, What: "Object.notify; the time is that of the call"},
	{Kind: jvmthread.KindNotifyAll, Lock: "object", Stack: true, What: "Object.notifyAll; the time is that of the call"},
	{Kind: jvmthread.KindJoinStart, Peer: "joined", Lock: "thread object", Arg: "timeout", Stack: true, What: "the thread waits for another to end"},
	{Kind: jvmthread.KindJoinEnd, Peer: "joined", Lock: "thread object", What: "it no longer does"},
	{Kind: jvmthread.KindSleepStart, Arg: "duration", Stack: true, What: "Thread.sleep begins"},
	{Kind: jvmthread.KindSleepEnd, What: "Thread.sleep ends"},
	{Kind: jvmthread.KindPark, Peer: "owner", Lock: "blocker", Arg: "timeout", Stack: true, What: "LockSupport.park begins"},
	{Kind: jvmthread.KindUnparked, What: "LockSupport.park returned"},
	{Kind: jvmthread.KindUnpark, Peer: "unparked", Stack: true, What: "LockSupport.unpark was called"},
	{Kind: jvmthread.KindYield, What: "Thread.yield was called"},
	{Kind: jvmthread.KindSuspend, Peer: "suspended", Stack: true, What: "Thread.suspend was called"},
	{Kind: jvmthread.KindResume, Peer: "resumed", Stack: true, What: "Thread.resume was called"},
	{Kind: jvmthread.KindStop, Peer: "stopped", Stack: true, What: "Thread.stop was called"},
	{Kind: jvmthread.KindMount, Peer: "carrier", What: "the virtual thread was mounted"},
	{Kind: jvmthread.KindUnmount, Peer: "carrier", What: "the virtual thread was unmounted"},
	{Kind: jvmthread.KindGap, Arg: "lost", What: "events of this thread were lost; the time is that of the first of them"},
	{Kind: jvmthread.KindContext, Peer: "trace id", Lock: "span id", Arg: "trace id", What: "a span of the application is current from here on, or none"},
	{Kind: jvmthread.KindOwnerStack, Peer: "owner", Lock: "lock", Stack: true, What: "where the owner was when the thread began to wait"},
	{Kind: jvmthread.KindCPU, Arg: "CPU time", What: "what the thread has used of a processor so far"},
}

// ThreadFlags refine the definition of a thread.
type ThreadFlags uint16

// The flags of threads.
const (
	ThreadDaemon ThreadFlags = 1 << iota
	ThreadVirtual
	ThreadCarrier // virtual threads run on it
)

// StackTruncated marks a stack that was deeper than the agent looked.
const StackTruncated uint16 = 1

// EndReason says why a session ended.
type EndReason uint16

// The reasons for an end.
const (
	EndExit     EndReason = 1 // the JVM ended in order
	EndDetached EndReason = 2 // the agent was switched off
)

// RefuseCode says why a connection was refused, for programs; the message beside it is for people.
type RefuseCode uint16

// The codes of refusals.
const (
	RefuseVersion  RefuseCode = 1 // the receiver does not speak this version
	RefuseLimit    RefuseCode = 2 // too many connections or sessions: try again later
	RefuseBadFrame RefuseCode = 3 // what was sent is not the protocol
	RefuseShutdown RefuseCode = 4 // the receiver is going away: try again later
)
