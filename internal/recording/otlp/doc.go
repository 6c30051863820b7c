// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package otlp answers: which events do the spans of thread_span stand for? It reads OTLP JSON as a file exporter and weft convert write it,
// and turns the spans of states back into the events that began and ended these states: so everything that reads recordings reads spans, and
// the page needs no second store for them.
//
// Spans say less than events did; what they do not prove is left out, except that a parked thread waits for a lock if its lock has an owner.
// docs/formats/otlp.md says what is exact and what is not.
package otlp

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format returns the format of spans. It is read-only: package spanlines writes them.
func Format() recording.Format {
	return recording.Format{Name: "otlp", Extension: ".spans.json", Match: Match, New: New, Carries: capabilities()}
}

// Match reports whether the first JSON object is a request of spans.
func Match(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	begins, _ := beginsRequest(head)
	return begins
}

func capabilities() (c recording.Capabilities) {
	const (
		base  = recording.FieldKind | recording.FieldTime
		lock  = recording.FieldLock | recording.FieldClass
		peer  = recording.FieldPeer
		arg   = recording.FieldArg
		stack = recording.FieldStack
	)
	common := jvmthread.FlagVirtual | jvmthread.FlagVirtualPeer | jvmthread.FlagPinned | jvmthread.FlagSnapshot
	for kind, fields := range map[jvmthread.Kind]recording.Fields{
		jvmthread.KindThreadStart: 0, jvmthread.KindThreadEnd: 0, jvmthread.KindStartCalled: peer, jvmthread.KindInterruptCalled: peer,
		jvmthread.KindContendedEnter: lock | peer | stack, jvmthread.KindContendedEntered: lock | peer,
		jvmthread.KindWait: lock | arg | stack, jvmthread.KindWaited: lock | peer, jvmthread.KindWaitReturned: lock,
		jvmthread.KindNotify: lock, jvmthread.KindNotifyAll: lock,
		jvmthread.KindJoinStart: lock | peer | arg | stack, jvmthread.KindJoinEnd: lock | peer,
		jvmthread.KindSleepStart: arg | stack, jvmthread.KindSleepEnd: 0,
		jvmthread.KindPark: lock | peer | arg | stack, jvmthread.KindUnparked: 0, jvmthread.KindUnpark: peer,
		jvmthread.KindYield: 0, jvmthread.KindSuspend: peer, jvmthread.KindResume: peer, jvmthread.KindStop: peer,
		jvmthread.KindGap: 0, jvmthread.KindContext: lock | peer | arg, jvmthread.KindOwnerContext: lock | peer | arg,
		jvmthread.KindOwnerStack: lock | peer | stack, jvmthread.KindCPU: arg, jvmthread.KindRunQueue: arg,
	} {
		c.Events[kind] = recording.Carried{Fields: base | fields, Flags: common}
	}
	c.Events[jvmthread.KindWaited].Flags |= jvmthread.FlagTimedOut
	for _, kind := range []jvmthread.Kind{jvmthread.KindWaitReturned, jvmthread.KindJoinEnd, jvmthread.KindSleepEnd} {
		c.Events[kind].Flags |= jvmthread.FlagInterrupted
	}
	c.Threads = recording.ThreadName | recording.ThreadGroup | recording.ThreadDaemon | recording.ThreadVirtual
	c.Notes = []string{
		"waits without a span of their own: spans say how many there are, and not when",
		"calls that released no thread, unless thread_span wrote them (option calls)",
		"starts and ends of threads in windows without their span or root",
		"most frames of deep stacks that are not of the application",
	}
	return c
}
