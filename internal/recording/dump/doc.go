// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package dump answers: which threads does a thread dump show, and what did they wait for? It reads what jstack, jcmd, HotSpot itself and OpenJ9 print,
// alone or in the log of an application, and JSON. Several dumps of a JVM are one session: a state that is the same in consecutive dumps lasts from the
// first to the last of them; what threads did between others is not known. docs/formats/dump.md describes the mapping.
package dump

import (
	"bytes"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
)

// Name is that of the format.
const Name = "dump"

// Format returns the format of thread dumps. It is read-only.
func Format() recording.Format {
	return recording.Format{Name: Name, Extension: ".tdump", Match: Match, New: New, Carries: carries()}
}

func carries() (c recording.Capabilities) {
	const (
		event = recording.FieldKind | recording.FieldTime
		lock  = recording.FieldLock | recording.FieldClass
		flags = jvmthread.FlagSnapshot | jvmthread.FlagVirtual
	)
	c.Events = [jvmthread.NumKinds]recording.Carried{
		jvmthread.KindThreadStart:    {Fields: event, Flags: flags},
		jvmthread.KindThreadEnd:      {Fields: event, Flags: flags},
		jvmthread.KindContendedEnter: {Fields: event | lock | recording.FieldPeer | recording.FieldStack, Flags: flags},
		jvmthread.KindWait:           {Fields: event | lock | recording.FieldStack, Flags: flags},
		jvmthread.KindJoinStart:      {Fields: event | lock | recording.FieldStack, Flags: flags},
		jvmthread.KindSleepStart:     {Fields: event | recording.FieldStack, Flags: flags},
		jvmthread.KindPark:           {Fields: event | lock | recording.FieldPeer | recording.FieldStack, Flags: flags},
		jvmthread.KindGap:            {Fields: event},
		jvmthread.KindCPU:            {Fields: event | recording.FieldArg},
		jvmthread.KindRunning:        {Fields: event | recording.FieldStack, Flags: flags},
	}
	c.Threads = recording.ThreadName | recording.ThreadDaemon | recording.ThreadVirtual
	c.Notes = []string{
		"only what threads did at the moments of the dumps",
		"locks that no thread waits for have no events",
		"times without a zone are read as UTC",
	}
	return c
}

// Match reports whether the start of a file has a thread of a dump, or its title.
func Match(head []byte) bool {
	if isUTF16(head) {
		head = bytes.ReplaceAll(head[2:], []byte{0}, nil)
	}
	if isJSON(head) {
		return true
	}
	found := false
	l := lines{}
	l.use(symbols.New(symbols.DefaultLimits()), func(*dump) { found = true })
	for line := range bytes.Lines(head) {
		l.take(bytes.TrimRight(line, "\r\n"))
	}
	titled := l.text.dump != nil && l.text.dump.jvm != "" || l.core.dump != nil
	l.finish()
	return found || titled
}

func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xFF\xFE")) || bytes.HasPrefix(head, []byte("\xFE\xFF"))
}

// IsText reports whether the start of a file is text, which may have a thread dump further on.
func IsText(head []byte) bool {
	if isUTF16(head) {
		return true
	}
	for _, c := range head {
		if c == 0x7F || c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1B {
			return false
		}
	}
	return true
}
