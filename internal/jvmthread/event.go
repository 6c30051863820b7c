// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Event is something that happened on a thread at a point in time, as the agent saw it. The kind determines which of the other fields are
// used; the table in package wire lists them.
type Event struct {
	Time   Time
	Thread ThreadID // the thread it happened on
	Peer   ThreadID // owner, target or carrier: another thread
	Arg    int64    // timeout or CPU time in nanoseconds (0: none) or, for a gap, the number of events lost
	Lock   LockID
	Stack  StackID
	Kind   Kind
	Flags  Flags
	Span   SpanContext // a span of the application, for the kinds that carry one
}

// MakesReady reports whether the event makes its peer ready to run, a virtual thread, if that is new or parked.
func (e *Event) MakesReady() bool {
	if e.Flags&FlagVirtualPeer == 0 || e.Thread == NoThread || e.Peer == NoThread || e.Peer == e.Thread {
		return false
	}
	return e.Kind == KindStartCalled || e.Kind == KindInterruptCalled || e.Kind == KindUnpark
}

// Limits of the numbers of events that are accepted from an agent. Sums of them fit into 64 bits.
const (
	MaxEvents = 1 << 60 // of a session
	MaxLost   = 1 << 40 // of a gap
)

// Kind is the kind of an event. The numbers are those of the protocol: new ones are appended, none is reused.
type Kind uint8

// The kinds of events. Names follow JVMTI where JVMTI has one.
const (
	KindNone             Kind = iota
	KindThreadStart           // the thread starts to run
	KindThreadEnd             // the thread is about to die
	KindStartCalled           // Thread.start was called on Peer
	KindInterruptCalled       // Thread.interrupt was called on Peer
	KindInterrupted           // an InterruptedException was thrown, or the flag was consumed
	KindContendedEnter        // the thread blocks on Lock, which Peer owns
	KindContendedEntered      // the thread owns Lock after having been blocked
	KindWait                  // Object.wait on Lock begins; Lock is released
	KindWaited                // the thread left the wait set of Lock; it does not own Lock yet (older documents say otherwise)
	KindWaitReturned          // Object.wait returned; the thread owns Lock again
	KindNotify                // Object.notify was called on Lock
	KindNotifyAll             // Object.notifyAll was called on Lock
	KindJoinStart             // the thread waits for Peer to end; Lock is Peer's Thread object
	KindJoinEnd               // the join returned
	KindSleepStart            // Thread.sleep begins
	KindSleepEnd              // Thread.sleep ends
	KindPark                  // LockSupport.park begins; Lock is the blocker, Peer its owner, or the thread that runs it if it is a task
	KindUnparked              // LockSupport.park returned
	KindUnpark                // LockSupport.unpark was called for Peer
	KindYield                 // Thread.yield
	KindSuspend               // Thread.suspend was called on Peer
	KindResume                // Thread.resume was called on Peer
	KindStop                  // Thread.stop was called on Peer
	KindMount                 // a virtual thread was mounted on the carrier Peer
	KindUnmount               // a virtual thread was unmounted from the carrier Peer
	KindGap                   // Arg events of this thread were lost, the first of them at Time
	KindContext               // Span is the current span of the application; zero: none
	kindReserved              // a number that no version has used
	KindOwnerStack            // Stack is that of Peer, the owner of Lock, when this thread began to wait for it
	KindCPU                   // the thread has used Arg nanoseconds of CPU time since it started
	KindOwnerContext          // Span is the current one of the lock's owner, when this thread began to wait for it
	KindRequestEnd            // the application's outermost span is no longer current, after Arg nanoseconds; Lock.Class is the request's name
	KindRunning               // the virtual thread has kept the carrier Peer for Arg nanoseconds; Stack is where it is
	KindRunQueue              // the thread has waited Arg nanoseconds for a processor since it started; a cpu of the same time follows
	kindEnd
)

var kindNames = [kindEnd]string{
	"none", "threadStart", "threadEnd", "startCalled", "interruptCalled", "interrupted", "contendedEnter", "contendedEntered",
	"wait", "waited", "waitReturned", "notify", "notifyAll", "joinStart", "joinEnd", "sleepStart", "sleepEnd", "park", "unparked",
	"unpark", "yield", "suspend", "resume", "stop", "mount", "unmount", "gap", "context", "", "ownerStack", "cpu",
	"ownerContext", "requestEnd", "running", "runQueue",
}

// Valid reports whether this program knows the kind.
func (k Kind) Valid() bool { return k > KindNone && k < kindEnd && k != kindReserved }

// CarriesSpan reports whether events of the kind carry a span of the application. A requestEnd carries only its id; the trace is that of the
// thread's last context.
func (k Kind) CarriesSpan() bool {
	return k == KindContext || k == KindOwnerContext || k == KindRequestEnd
}

// NumKinds is one more than the largest kind, for tables indexed by kind.
const NumKinds = int(kindEnd)

// String returns the kind's name in the protocol.
func (k Kind) String() string { return nameOf(kindNames[:], k, "unknown") }

// nameOf returns the name of a value, and other for a value without one.
func nameOf[T ~uint8](names []string, value T, other string) string {
	if int(value) < len(names) {
		return names[value]
	}
	return other
}

// ParseKind returns the kind with the given name.
func ParseKind(name string) (Kind, bool) {
	for k := KindNone + 1; k < kindEnd; k++ {
		if kindNames[k] == name && k.Valid() {
			return k, true
		}
	}
	return KindNone, false
}

// Flags refine an event.
type Flags uint16

// The flags of events.
const (
	FlagTimedOut     Flags = 1 << iota // waited: the timeout expired; unpark: the JVM's timer called it
	FlagInterrupted                    // waitReturned, joinEnd, sleepEnd, interrupted: InterruptedException was thrown; unparked: interrupted meanwhile
	FlagVirtual                        // the event is of a virtual thread
	FlagSnapshot                       // found by a snapshot: it happened at that time or earlier
	FlagOwnerUnknown                   // contendedEnter: Lock has an owner that the agent did not find
	FlagPinned                         // park, and ends of waits: the virtual thread keeps its carrier, or kept it all the time
	FlagVirtualPeer                    // startCalled, interruptCalled, unpark: Peer is a virtual thread
	FlagSystemCall                     // park, unparked: seen in a system call; Lock.Class says what it does there, Arg for how long so far

	// FlagLateNotify is for waited: the notify that ended the wait may be recorded later. Agents do not send it; see docs/adr/013.
	FlagLateNotify Flags = 1 << 15
)

// FlagNames are the names of the protocol's flags, lowest bit first.
var FlagNames = [...]string{"timedOut", "interrupted", "virtual", "snapshot", "ownerUnknown", "pinned", "virtualPeer", "systemCall"}

// SpanContext identifies a span of the application, as in W3C Trace Context. The zero value identifies none.
type SpanContext struct {
	TraceID [16]byte
	SpanID  [8]byte
}

// IsZero reports whether no span is identified.
func (c SpanContext) IsZero() bool { return c == SpanContext{} }
