// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package jfr reads flight recordings of JDK 11 and later. It converts their events about monitors, waits, parks, sleeps and thread lifetimes
// to those of package jvmthread.
//
// It knows the container format (chunks, metadata, constant pools) and the names of the events and fields that it needs; their layout comes
// from the metadata of each chunk. It reads a chunk in several passes over a window of the file, so that memory depends on the chunk's
// constants and on a limit on events, but not on its size. docs/formats/jfr.md describes the mapping.
package jfr

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format returns the format of flight recordings. It is read-only.
func Format() recording.Format {
	return recording.Format{
		Name:      "jfr",
		Extension: ".jfr",
		Match:     func(head []byte) bool { return strings.HasPrefix(string(head), Magic) },
		New: func(options recording.Options, sink recording.Sink) recording.Decoder {
			return NewDecoder(options, sink)
		},
		Carries: carries(),
	}
}

func carries() (c recording.Capabilities) {
	const (
		event = recording.FieldKind | recording.FieldTime
		lock  = recording.FieldLock | recording.FieldClass
		stack = recording.FieldStack
	)
	const open = jvmthread.FlagSnapshot // from thread dumps
	c.Events = [jvmthread.NumKinds]recording.Carried{
		jvmthread.KindThreadStart:      {Fields: event | recording.FieldPeer | stack},
		jvmthread.KindThreadEnd:        {Fields: event},
		jvmthread.KindContendedEnter:   {Fields: event | lock | recording.FieldPeer | stack, Flags: open},
		jvmthread.KindContendedEntered: {Fields: event | lock | recording.FieldPeer},
		jvmthread.KindWait:             {Fields: event | lock | recording.FieldArg | stack, Flags: open},
		jvmthread.KindWaited:           {Fields: event | lock | recording.FieldPeer, Flags: jvmthread.FlagTimedOut},
		jvmthread.KindWaitReturned:     {Fields: event | lock},
		jvmthread.KindNotify:           {Fields: event | lock | stack},
		jvmthread.KindNotifyAll:        {Fields: event | lock | stack},
		jvmthread.KindJoinStart:        {Fields: event | lock | recording.FieldPeer | recording.FieldArg | stack, Flags: open},
		jvmthread.KindJoinEnd:          {Fields: event | lock | recording.FieldPeer},
		jvmthread.KindSleepStart:       {Fields: event | recording.FieldArg | stack, Flags: open},
		jvmthread.KindSleepEnd:         {Fields: event},
		jvmthread.KindPark:             {Fields: event | lock | recording.FieldPeer | recording.FieldArg | stack, Flags: open},
		jvmthread.KindUnparked:         {Fields: event},
	}
	c.Threads = recording.ThreadName | recording.ThreadGroup | recording.ThreadVirtual
	c.Notes = []string{
		"events shorter than their thresholds, and disabled events, are missing",
		"locks are identified by the address of their monitor, which the JVM may reuse; objects that threads park on may move",
		"notify only since JDK 24; the notifier is in all versions",
		"no source file names",
		"waits that have not ended when the recording does are missing without a thread dump in it",
	}
	return c
}
