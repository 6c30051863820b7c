// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wording answers: what do people call it? Spans, tables and pages use the same names for states, locks, threads and places.
package wording

import (
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
)

var verbs = [jvmthread.NumStates]string{ //nolint:gochecknoglobals // read-only table
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

// Verb is the first word of the name of an interval in a state.
func Verb(s jvmthread.State) string { return verbs[s] }

// Title is the name of an interval: "wait Queue (timed out)". The object is the simple class of its lock or the thread that it joins, and
// empty if it is about none.
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

// SimpleClass is a class without its package, and "?" if it is not known. Locks of java.util.concurrent block on an inner class; people know the
// outer one.
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

// ThreadName is the name of a thread, or its id if the name is not known.
func ThreadName(name string, id jvmthread.ThreadID) string {
	if name != "" {
		return name
	}
	return "thread " + strconv.FormatUint(uint64(id), 10)
}

// Place is where in the code a stack begins, seen by somebody who knows what wait and park are.
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
		p, ok := ParseFrame(strings.TrimSpace(line))
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

// isWaiting tells the methods of the JDK that wait, wake or start from those that use them.
func isWaiting(function string) bool {
	for _, prefix := range []string{
		"java.lang.Object.", "java.lang.Thread.", "java.util.concurrent.locks.", "jdk.internal.misc.Unsafe.", "sun.misc.Unsafe.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// ParseFrame reads a line such as "at com.acme.OrderBook.add(OrderBook.java:42)".
func ParseFrame(s string) (p Place, ok bool) {
	s, ok = strings.CutPrefix(s, "at ")
	open := strings.IndexByte(s, '(')
	if !ok || open < 0 || !strings.HasSuffix(s, ")") {
		return Place{}, false
	}
	p.Function = s[:open]
	where := s[open+1 : len(s)-1]
	if colon := strings.LastIndexByte(where, ':'); colon >= 0 {
		if n, err := strconv.Atoi(where[colon+1:]); err == nil {
			p.File, p.Line = where[:colon], n
		}
	} else if where != "Native Method" && where != "Unknown Source" {
		p.File = where
	}
	return p, true
}
