// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wording has the names of states, locks, threads and places that users see in spans, tables and pages.
package wording

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

var verbs = [jvmthread.NumStates]string{
	jvmthread.StateUnknown:    "unknown",
	jvmthread.StateRunnable:   "runnable",
	jvmthread.StateBlocked:    "blocked",
	jvmthread.StateWaiting:    "wait",
	jvmthread.StateReentering: "reenter",
	jvmthread.StateJoining:    "join",
	jvmthread.StateSleeping:   "sleep",
	jvmthread.StateParked:     "park",
	jvmthread.StateDeadlocked: "deadlocked",
	jvmthread.StateSuspended:  "suspended",
	jvmthread.StateDead:       "dead",
	jvmthread.StateQueued:     "queued",
}

// Verb returns the first word of the name of an interval in a state.
func Verb(s jvmthread.State) string { return verbs[s] }

// titles begin the names of waits.
var titles = [jvmthread.NumWaits]string{
	jvmthread.WaitLock:      "blocked",
	jvmthread.WaitPermit:    "wait for permit",
	jvmthread.WaitPool:      "wait for pool",
	jvmthread.WaitReenter:   "reenter",
	jvmthread.WaitCondition: "wait for condition",
	jvmthread.WaitLatch:     "wait for latch",
	jvmthread.WaitBarrier:   "wait for barrier",
	jvmthread.WaitExchange:  "wait for exchange",
	jvmthread.WaitFuture:    "wait for future",
	jvmthread.WaitQueue:     "wait for queue",
	jvmthread.WaitObject:    "wait",
	jvmthread.WaitJoin:      "join",
	jvmthread.WaitIO:        "wait for I/O",
	jvmthread.WaitSleep:     "sleep",
	jvmthread.WaitTimer:     "idle until the next task",
	jvmthread.WaitIdle:      "idle",
	jvmthread.WaitSuspend:   "suspended",
	jvmthread.WaitPark:      "park",
	jvmthread.WaitCarrier:   "wait for carrier",
	jvmthread.WaitPause:     "pause",
}

// doings say what a thread does that waits.
var doings = [jvmthread.NumWaits]string{
	jvmthread.WaitLock:      "waiting for",
	jvmthread.WaitPermit:    "waiting for a permit of",
	jvmthread.WaitPool:      "waiting for",
	jvmthread.WaitReenter:   "reentering",
	jvmthread.WaitCondition: "waiting for condition",
	jvmthread.WaitLatch:     "waiting for latch",
	jvmthread.WaitBarrier:   "waiting for barrier",
	jvmthread.WaitExchange:  "waiting for exchange",
	jvmthread.WaitFuture:    "waiting for future",
	jvmthread.WaitQueue:     "waiting for queue",
	jvmthread.WaitObject:    "waiting on",
	jvmthread.WaitJoin:      "joining",
	jvmthread.WaitIO:        "waiting for I/O",
	jvmthread.WaitSleep:     "asleep",
	jvmthread.WaitTimer:     "idle until the next task",
	jvmthread.WaitIdle:      "idle",
	jvmthread.WaitSuspend:   "suspended",
	jvmthread.WaitPark:      "parked",
	jvmthread.WaitCarrier:   "waiting for a carrier",
	jvmthread.WaitPause:     "stopped for",
}

// ofNothing say the same if it is not known what the thread waits for.
var ofNothing = map[string]string{
	"waiting for a permit of": "waiting for a permit", "waiting on": "waiting", "waiting for": "waiting", "waiting for condition": "waiting for a condition",
	"waiting for latch": "waiting for a latch", "waiting for barrier": "waiting for a barrier", "waiting for exchange": "waiting for an exchange",
	"waiting for future": "waiting for a future", "waiting for queue": "waiting for a queue", "reentering": "reentering a monitor",
	"joining": "joining a thread", "stopped for": "stopped by the JVM",
}

// Title returns the name of an interval: "blocked Inventory.lock", "wait Queue (timed out)". The object is what Object returns, or the thread
// that it joins, or empty.
func Title(s jvmthread.State, w jvmthread.Wait, object string, timedOut bool) string {
	if IsActivity(object) || w == jvmthread.WaitPause && object != "" {
		return object
	}
	name := verbs[s]
	if w != jvmthread.WaitNone && s != jvmthread.StateDeadlocked {
		name = titles[w]
	}
	if object != "" {
		name += " " + object
	}
	if timedOut {
		name += " (timed out)"
	}
	return name
}

// Object returns what a wait is for: the lock by its name in the source, or by its class; or the library by the class through which the
// application entered it, which says more than an inner class of the JDK. Each may be empty. A thread without a task waits for nothing
// that users know, and a sleeping one only for the time: the park of a sleeping virtual thread is for that thread.
func Object(w jvmthread.Wait, class, lock, entry string) string {
	switch {
	case IsActivity(class) || w == jvmthread.WaitPause:
		return class
	case w == jvmthread.WaitIO && (class == processClass || strings.HasPrefix(entry, processClass+".")): // a monitor, or a condition
		return "waiting for a process to end"
	case w == jvmthread.WaitIO:
		return "" // a lock of the library
	}
	if w.Idle() || w == jvmthread.WaitSleep {
		return ""
	}
	if w == jvmthread.WaitLock && strings.HasSuffix(class, initializer) {
		return SimpleClass(class)
	}
	if lock != "" && w != jvmthread.WaitPool {
		return lock
	}
	switch {
	case w == jvmthread.WaitPermit && class == "", // who limits a rate waits for the time
		slices.Contains(libraryFirst, w):
		if dot := strings.LastIndexByte(entry, '.'); dot > 0 {
			name := SimpleClass(entry[:dot])
			if outer, _, _ := strings.Cut(name, "$"); w == jvmthread.WaitPool && outer != "" {
				return outer
			}
			return name
		}
	}
	switch {
	case class == "":
		return ""
	case w == jvmthread.WaitLock && class == initLock:
		return Initialization
	}
	return SimpleClass(class)
}

// libraryFirst are the waits for which the class of the library says more than that of the object.
var libraryFirst = []jvmthread.Wait{
	jvmthread.WaitCondition, jvmthread.WaitLatch, jvmthread.WaitBarrier, jvmthread.WaitExchange, jvmthread.WaitFuture, jvmthread.WaitQueue, jvmthread.WaitPool,
}

// activities begin what a thread does in a system call. Agents say that in place of the class of what it waits for.
var activities = map[string]bool{
	"reading": true, "writing": true, "syncing": true, "connecting": true, "opening": true, "locking": true, "waiting": true,
}

// IsActivity reports whether the class of what a thread waits for says what it does instead: "reading from 10.0.0.7:5432".
func IsActivity(class string) bool {
	first, _, more := strings.Cut(class, " ")
	return more && activities[first]
}

// processClass is the class of the JDK whose objects threads wait for until a process has ended.
const processClass = "java.lang.ProcessImpl"

// Initialization is what threads wait for while another thread initializes a class. HotSpot locks an array of the class for that, which no
// program sees. A program that locks an array of its own has a name for it, with rare exceptions. The agent knows the class, and has
// another name for the lock: see SimpleClass.
const (
	Initialization = "class initialization"
	initLock       = "[I"
)

// connectors are the libraries whose pools have connections.
var connectors = []string{
	"org.apache.http.", "org.apache.hc.", "org.apache.commons.httpclient.", "com.mongodb.", "redis.clients.", "com.mchange.", "oracle.ucp.",
}

// Unit returns what of an object a thread waits for: "a connection" of HikariPool, "a permit" of a semaphore, "a carrier" of no object that has
// a name; empty: for the object itself. The entry is the library's method through which the application waits.
func Unit(w jvmthread.Wait, entry string) string {
	method := entry[strings.LastIndexByte(entry, '.')+1:]
	switch {
	case w == jvmthread.WaitPermit:
		return "a permit"
	case w == jvmthread.WaitCarrier:
		return "a carrier"
	case w != jvmthread.WaitPool:
		return ""
	case strings.Contains(method, "Connection"), slices.ContainsFunc(connectors, func(prefix string) bool { return strings.HasPrefix(entry, prefix) }):
		return "a connection"
	case method == "allocate", method == "waitIfStalled":
		return "memory"
	}
	return "an object"
}

// ThreadName returns the name of a thread, or "thread" and its id if the name is empty.
func ThreadName(name string, id jvmthread.ThreadID) string {
	if name != "" {
		return name
	}
	return "thread " + strconv.FormatUint(uint64(id), 10)
}

// Held says who held what a wait was for: "report held it 92 % of the time, asleep in Report.write". The share is from 0 to 1, 0 if it is not
// known; doing is empty if that is not known.
func Held(w jvmthread.Wait, holder string, share float64, doing string) string {
	return string(AppendHeld(nil, w, holder, share, doing))
}

// AppendHeld appends the result of Held to b.
func AppendHeld(b []byte, w jvmthread.Wait, holder string, share float64, doing string) []byte {
	b = append(b, holder...)
	if w == jvmthread.WaitCarrier {
		b = append(b, " kept a carrier"...)
	} else {
		b = append(b, " held it"...)
	}
	if share > 0 {
		b = append(AppendPercent(append(b, ' '), share), " of the time"...)
	}
	if doing != "" {
		b = append(append(b, ", "...), doing...)
	}
	return b
}

// Percent returns a share from 0 to 1 in percent: "92 %", and "<1 %" instead of zero.
func Percent(share float64) string { return string(AppendPercent(nil, share)) }

// AppendPercent appends the result of Percent to b.
func AppendPercent(b []byte, share float64) []byte {
	if share < 0.005 {
		return append(b, "<1 %"...)
	}
	return append(strconv.AppendInt(b, int64(share*100+0.5), 10), " %"...)
}

// Doing says what a thread did: "asleep in Report.write", "waiting for Inventory.lock in Orders.add". The object is what Object returns, or the thread
// that it joins; the function is class and method. Each may be empty. If clocks show what a runnable thread did, Ran says that.
func Doing(s jvmthread.State, w jvmthread.Wait, object, function string) string {
	text := doings[w]
	switch {
	case s == jvmthread.StateRunnable:
		return Ran(RunUnseen, function)
	case w == jvmthread.WaitNone:
		return ""
	case IsActivity(object) && (w == jvmthread.WaitIO || w.Idle()):
		text = object
	case s == jvmthread.StateDeadlocked:
		text = "deadlocked at " + object
	case object != "":
		text += " " + object
	default:
		text = cmp.Or(ofNothing[text], text)
	}
	if function != "" {
		text += " in " + SimpleFunction(function)
	}
	return text
}

// SimpleFunction returns class and method without the package.
func SimpleFunction(function string) string {
	dot := strings.LastIndexByte(function, '.')
	if dot < 0 {
		return function
	}
	return SimpleClass(function[:dot]) + function[dot:]
}
