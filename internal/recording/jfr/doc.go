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
	for _, has := range []struct {
		kind   jvmthread.Kind
		fields recording.Fields
	}{
		{jvmthread.KindThreadStart, event | recording.FieldPeer | stack},
		{jvmthread.KindThreadEnd, event},
		{jvmthread.KindContendedEnter, event | lock | stack},
		{jvmthread.KindContendedEntered, event | lock | recording.FieldPeer},
		{jvmthread.KindWait, event | lock | recording.FieldArg | stack},
		{jvmthread.KindWaited, event | lock | recording.FieldPeer},
		{jvmthread.KindWaitReturned, event | lock},
		{jvmthread.KindNotify, event | lock | stack},
		{jvmthread.KindNotifyAll, event | lock | stack},
		{jvmthread.KindJoinStart, event | lock | recording.FieldPeer | recording.FieldArg | stack},
		{jvmthread.KindJoinEnd, event | lock | recording.FieldPeer},
		{jvmthread.KindSleepStart, event | recording.FieldArg | stack},
		{jvmthread.KindSleepEnd, event},
		{jvmthread.KindPark, event | lock | recording.FieldArg | stack},
		{jvmthread.KindUnparked, event},
	} {
		c.Events[has.kind].Fields = has.fields
	}
	c.Events[jvmthread.KindWaited].Flags = jvmthread.FlagTimedOut
	c.Threads = recording.ThreadName | recording.ThreadGroup | recording.ThreadVirtual
	c.Notes = []string{
		"events shorter than their thresholds, and disabled events, are missing",
		"locks are identified by the address of their monitor, which the JVM may reuse; objects that threads park on may move",
		"notify only since JDK 24; the notifier is in all versions",
		"no source file names",
	}
	return c
}
