// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Fields is a set of event fields.
type Fields uint8

// The fields of an event. A field that a format does not carry is left out on reading, not set to a default.
const (
	FieldKind  Fields = 1 << iota // the event itself and its thread
	FieldTime                     // without it a format carries only the order
	FieldPeer                     //
	FieldLock                     // the identity hash
	FieldClass                    // the class of the lock
	FieldArg                      // the timeout, or the number of events in a gap
	FieldStack                    //
)

// Carried describes what a format carries of one kind of event.
type Carried struct {
	Fields Fields
	Flags  jvmthread.Flags
}

// ThreadFields is a set of fields of a thread definition besides its id.
type ThreadFields uint8

// The fields of a thread definition.
const (
	ThreadName ThreadFields = 1 << iota
	ThreadGroup
	ThreadDaemon
	ThreadVirtual
	ThreadForeign // of its own format
)

// Capabilities describes what a format can represent.
type Capabilities struct {
	Events     [jvmthread.NumKinds]Carried
	Threads    ThreadFields
	Aggregates bool     // sums in place of events, from an agent in aggregated mode
	Notes      []string // further limitations, for people
}

// Missing lists what a format cannot carry, one line each: "no yield", "no timeout of wait", then the notes.
func (c *Capabilities) Missing() (lines []string) {
	add := func(missing []string, of string) {
		if len(missing) > 0 {
			lines = append(lines, "no "+strings.Join(missing, ", ")+of)
		}
	}
	var kinds []string
	for i := range wire.Events {
		if kind := wire.Events[i].Kind; c.Events[kind].Fields&FieldKind == 0 {
			kinds = append(kinds, kind.String())
		}
	}
	add(kinds, "")
	for i := range wire.Events {
		add(c.missingOf(&wire.Events[i], everything()), " of "+wire.Events[i].Kind.String())
	}
	add(c.missingOfThreads(^ThreadFields(0)), " of threads")
	if !c.Aggregates {
		lines = append(lines, "no aggregates")
	}
	return append(lines, c.Notes...)
}

// everything is all that an event can have.
func everything() Carried { return Carried{Fields: ^Fields(0), Flags: ^jvmthread.Flags(0)} }

func (c *Capabilities) missingOfThreads(present ThreadFields) (missing []string) {
	for bit, name := range [...]string{"name", "group", "daemon", "virtual"} {
		if present&^c.Threads&(1<<bit) != 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// missingOf returns the names of what is present in events of a kind, and not carried.
func (c *Capabilities) missingOf(spec *wire.EventSpec, present Carried) (missing []string) {
	has := c.Events[spec.Kind]
	if has.Fields&FieldKind == 0 {
		return nil
	}
	for _, f := range [...]struct {
		field   Fields
		defined bool
		name    string
	}{
		{FieldTime, true, "time"},
		{FieldPeer, spec.Peer != "", spec.Peer},
		{FieldLock, spec.Lock != "", spec.Lock},
		{FieldClass, spec.Lock != "", "class of the " + spec.Lock},
		{FieldArg, spec.Arg != "", spec.Arg},
		{FieldStack, spec.Stack, "stack"},
	} {
		if f.defined && present.Fields&^has.Fields&f.field != 0 {
			missing = append(missing, f.name)
		}
	}
	for bit, name := range jvmthread.FlagNames {
		if flag := jvmthread.Flags(1) << bit; flagsOf(spec.Kind)&present.Flags&flag&^has.Flags != 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// flagsOf returns the flags that have a meaning for a kind.
func flagsOf(kind jvmthread.Kind) jvmthread.Flags {
	switch kind {
	case jvmthread.KindWaited:
		return jvmthread.FlagTimedOut
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd, jvmthread.KindSleepEnd:
		return jvmthread.FlagInterrupted
	}
	return 0
}
