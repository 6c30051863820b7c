// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wording has the names of states, locks, threads and places that users see in spans, tables and pages.
package wording

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
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
}

// Verb returns the first word of the name of an interval in a state.
func Verb(s jvmthread.State) string { return verbs[s] }

// Title returns the name of an interval: "wait Queue (timed out)". The object is the simple class of its lock or the thread that it joins, or
// empty.
func Title(s jvmthread.State, object string, timedOut bool) string {
	name := verbs[s]
	if object != "" {
		name += " " + object
	}
	if timedOut {
		name += " (timed out)"
	}
	return name
}

// SimpleClass returns a class name without its package, or "?" if it is empty. For the inner classes on which locks of java.util.concurrent
// block, it returns the outer class, which users know.
func SimpleClass(class string) string {
	if class == "" {
		return "?"
	}
	n := class[strings.LastIndexByte(class, '.')+1:]
	for _, inner := range []string{"$NonfairSync", "$FairSync", "$Sync"} {
		n = strings.TrimSuffix(n, inner)
	}
	return n
}

// ThreadName returns the name of a thread, or "thread" and its id if the name is empty.
func ThreadName(name string, id jvmthread.ThreadID) string {
	if name != "" {
		return name
	}
	return "thread " + strconv.FormatUint(uint64(id), 10)
}

// Holder is the end of a sentence about a wait for a lock: who held the lock when the wait began, and which interval that thread was in. The
// holder is empty if the sentence has just named it, and the interval if the thread was running.
func Holder(holder, interval string) string {
	const begin = "; when it began to wait, "
	switch {
	case holder == "" && interval == "":
		return ""
	case holder == "":
		return begin + "that one was in: " + interval
	case interval == "":
		return begin + holder + " held it"
	}
	return begin + holder + " held it and was in: " + interval
}

// Place is the code that uses a wait or a lock: a frame of a stack.
type Place struct {
	Function string // empty: not known
	File     string
	Line     int
}

// FindPlace finds the first frame of a stack that is not of the waiting itself, and its index. If all are, it is the first.
func FindPlace(stack string) (Place, int) {
	var first Place
	i := -1
	for line := range strings.Lines(stack) {
		i++
		p, ok := parse(line)
		if !ok {
			continue
		}
		if !isWaiting(p.Function) {
			return p, i
		}
		if first.Function == "" {
			first = p
		}
	}
	return first, 0
}

// isWaiting reports whether a method belongs to the JDK's waiting, waking or starting itself and not to its caller.
func isWaiting(function string) bool {
	return slices.ContainsFunc([]string{
		"java.lang.Object.", "java.lang.Thread.", "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.", "sun.misc.Unsafe.",
	}, func(prefix string) bool { return strings.HasPrefix(function, prefix) })
}

func parse(line string) (Place, bool) {
	f, ok := symbols.ParseFrame(strings.TrimSpace(line))
	if !ok {
		return Place{}, false
	}
	p := Place{Function: f.Method, File: f.File, Line: max(f.Line, 0)}
	if f.Class != "" {
		p.Function = f.Function()
	}
	return p, true
}
