// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package waits

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// HasWork reports whether a thread that waits there has work to do, from which other threads keep it. Waits for locks, permits and pools, which
// somebody holds, are not asked about. Whoever puts into a queue has work; whoever takes from one may be idle. So may a thread be that waits for
// a notification or a signal: there the name of the method says it, as it does to a reader of a stack.
func (s *Site) HasWork(w jvmthread.Wait) bool {
	switch w {
	case jvmthread.WaitLatch, jvmthread.WaitBarrier, jvmthread.WaitExchange, jvmthread.WaitFuture, jvmthread.WaitCarrier, jvmthread.WaitJoin:
		return true
	case jvmthread.WaitQueue:
		return begins(methodOf(s.Entry), giving)
	case jvmthread.WaitObject, jvmthread.WaitCondition:
		switch {
		case !s.Own:
			return false
		case s.Entry == "", hasPrefix(s.Entry, waiting): // the application's own code waits
			return begins(methodOf(s.Function), giving)
		}
		return !begins(methodOf(s.Entry), taking)
	}
	return false
}

// giving are words with which the names of methods begin whose callers have something to pass on or to get done. A Disruptor's next() claims
// room for an event.
var giving = []string{
	"put", "offer", "transfer", "tryTransfer", "next", "add", "enqueue", "push", "publish", "send", "submit", "request", "call", "acquire",
	"borrow", "checkout", "checkOut", "lease", "reserve", "lock", "enter",
}

// taking are those with which the names of methods of libraries begin that wait for something to do, or for the time.
var taking = []string{
	"take", "poll", "next", "receive", "read", "remove", "consume", "dequeue", "pop", "drain", "select", "wait", "await", "park", "sleep", "pause",
	"run", "start", "listen", "accept", "serve", "join", "loop", "watch",
}

func methodOf(function string) string {
	return function[strings.LastIndexByte(function, '.')+1:]
}

// begins reports whether a name of a method begins with one of some words: "putLast" with "put", "address" not with "add".
func begins(name string, words []string) bool {
	for _, word := range words {
		if rest, ok := strings.CutPrefix(name, word); ok {
			if next, _ := utf8.DecodeRuneInString(rest); rest == "" || !unicode.IsLower(next) {
				return true
			}
		}
	}
	return false
}
