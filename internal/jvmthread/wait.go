// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Wait is what a stopped thread waits for. Package waits finds it.
type Wait uint8

// The kinds of waits.
const (
	WaitNone      Wait = iota // not stopped
	WaitLock                  // a lock that other threads hold: a monitor, a ReentrantLock, a read or write lock, a StampedLock
	WaitPermit                // of a semaphore or a rate limiter
	WaitPool                  // a connection or another object of a pool
	WaitReenter               // a monitor, after having been notified or timed out
	WaitCondition             // java.util.concurrent.locks.Condition
	WaitLatch                 // CountDownLatch
	WaitBarrier               // CyclicBarrier, Phaser
	WaitExchange              // Exchanger
	WaitFuture                // the result of a task
	WaitQueue                 // to take from a queue, or to put into one
	WaitObject                // Object.wait
	WaitJoin                  // the end of a thread
	WaitIO                    // a socket, where waiting for it is not native code
	WaitSleep
	WaitTimer // for the time of the next task
	WaitIdle  // a worker without a task
	WaitSuspend
	WaitPark    // LockSupport.park, for an unknown purpose
	WaitCarrier // a carrier, to run on
	WaitPause   // the end of a pause of the JVM, such as a garbage collection
	waitEnd
)

// NumWaits is one more than the largest kind, for tables indexed by kind.
const NumWaits = int(waitEnd)

var waitNames = [waitEnd]string{
	"", "lock", "permit", "pool", "reenter", "condition", "latch", "barrier", "exchange", "future", "queue", "object", "join", "io", "sleep",
	"timer", "idle", "suspend", "park", "carrier", "pause",
}

// String returns the name of the kind as used in attributes.
func (w Wait) String() string { return nameOf(waitNames[:], w, "invalid") }

// Contended reports whether the thread waits for something that other threads hold and will return. This is the only rule of what counts as
// contention, for monitors and for java.util.concurrent alike.
func (w Wait) Contended() bool { return w == WaitLock || w == WaitPermit || w == WaitPool }

// ForOthers reports whether the thread has work to do and waits for other threads to unblock it. Waits for the next item, event or task
// are not among them.
func (w Wait) ForOthers() bool {
	switch w {
	case WaitLock, WaitPermit, WaitPool, WaitReenter, WaitLatch, WaitBarrier, WaitExchange, WaitFuture, WaitJoin:
		return true
	}
	return false
}

// Idle reports whether the thread has nothing to do, whatever other threads do meanwhile.
func (w Wait) Idle() bool { return w == WaitIdle || w == WaitTimer }

// IdleShare is the part of its time, a hundredth, for which an idle thread may be active: it looks for work now and then.
const IdleShare = 100
