// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// Format is how flight recordings are read. Nothing here writes them.
func Format() recording.Format {
	return recording.Format{
		Name:  "jfr",
		Match: func(head []byte) bool { return strings.HasPrefix(string(head), Magic) },
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
		"events shorter than their thresholds, and those that are off, are not in the recording",
		"locks are told apart by the address of their monitor, which another may have later; objects that threads park for move",
		"notify only from JDK 24 on; who notified is in all versions",
		"no names of source files",
	}
	return c
}
