// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Fields is a set of the fields of an event.
type Fields uint8

// The fields of an event. What a format does not carry is absent when it is read, and not some zero.
const (
	FieldKind  Fields = 1 << iota // the event itself, with its thread
	FieldTime                     // when; a format without it carries the order only
	FieldPeer                     //
	FieldLock                     // which lock, as its identity hash
	FieldClass                    // the class of the lock
	FieldArg                      // time-out, or a gap's number of events
	FieldStack                    //
)

// Carried is what a format carries of the events of one kind.
type Carried struct {
	Fields Fields
	Flags  jvmthread.Flags
}

// ThreadFields is a set of the fields of a thread's definition; its id is always carried.
type ThreadFields uint8

// The fields of a thread's definition.
const (
	ThreadName ThreadFields = 1 << iota
	ThreadGroup
	ThreadDaemon
	ThreadVirtual
)

// Capabilities say what a format can hold.
type Capabilities struct {
	Events  [jvmthread.NumKinds]Carried
	Threads ThreadFields
	// Aggregates: sums in place of events, of an agent in aggregated mode.
	Aggregates bool
	Notes      []string // what else people should know: rounded times, a wait's one end
}

// Carry returns what a format keeps of an event, and whether it keeps it at all.
func (c *Capabilities) Carry(ev jvmthread.Event) (kept jvmthread.Event, ok bool) {
	carried := c.Events[ev.Kind]
	if carried.Fields&FieldKind == 0 {
		return jvmthread.Event{}, false
	}
	kept = jvmthread.Event{Kind: ev.Kind, Thread: ev.Thread, Flags: ev.Flags & carried.Flags}
	if carried.Fields&FieldTime != 0 {
		kept.Time = ev.Time
	}
	if carried.Fields&FieldPeer != 0 {
		kept.Peer = ev.Peer
	}
	if carried.Fields&FieldLock != 0 {
		kept.Lock.Hash = ev.Lock.Hash
	}
	if carried.Fields&FieldClass != 0 {
		kept.Lock.Class = ev.Lock.Class
	}
	if carried.Fields&FieldArg != 0 {
		kept.Arg = ev.Arg
	}
	if carried.Fields&FieldStack != 0 {
		kept.Stack = ev.Stack
	}
	return kept, true
}

// CarryThread returns what a format keeps of a thread's definition.
func (c *Capabilities) CarryThread(th jvmthread.Thread) jvmthread.Thread {
	kept := jvmthread.Thread{ID: th.ID}
	if c.Threads&ThreadName != 0 {
		kept.Name = th.Name
	}
	if c.Threads&ThreadGroup != 0 {
		kept.Group = th.Group
	}
	kept.Daemon = th.Daemon && c.Threads&ThreadDaemon != 0
	kept.Virtual = th.Virtual && c.Threads&ThreadVirtual != 0
	return kept
}

// Lacks lists what a format cannot carry, a line each: "no yield", "no timeout of wait", then the notes.
func (c *Capabilities) Lacks() (lines []string) {
	var none []string
	for i := range wire.Events {
		spec := &wire.Events[i]
		if c.Events[spec.Kind].Fields&FieldKind == 0 {
			none = append(none, spec.Kind.String())
		}
	}
	if len(none) > 0 {
		lines = append(lines, "no "+strings.Join(none, ", "))
	}
	for i := range wire.Events {
		if what := c.lacksOf(&wire.Events[i]); len(what) > 0 {
			lines = append(lines, "no "+strings.Join(what, ", ")+" of "+wire.Events[i].Kind.String())
		}
	}
	if what := c.lacksOfThreads(); len(what) > 0 {
		lines = append(lines, "no "+strings.Join(what, ", ")+" of threads")
	}
	if !c.Aggregates {
		lines = append(lines, "no aggregates")
	}
	return append(lines, c.Notes...)
}

func (c *Capabilities) lacksOf(spec *wire.EventSpec) (what []string) {
	has := c.Events[spec.Kind]
	if has.Fields&FieldKind == 0 {
		return nil
	}
	add := func(field Fields, means bool, name string) {
		if means && has.Fields&field == 0 {
			what = append(what, name)
		}
	}
	add(FieldTime, true, "time")
	add(FieldPeer, spec.Peer != "", spec.Peer)
	add(FieldLock, spec.Lock != "", spec.Lock)
	add(FieldClass, spec.Lock != "", "class of the "+spec.Lock)
	add(FieldArg, spec.Arg != "", spec.Arg)
	add(FieldStack, spec.Stack, "stack")
	for bit, name := range jvmthread.FlagNames {
		if flag := jvmthread.Flags(1) << bit; flagsOf(spec.Kind)&flag&^has.Flags != 0 {
			what = append(what, name)
		}
	}
	return what
}

// flagsOf returns the flags that mean something for a kind.
func flagsOf(kind jvmthread.Kind) jvmthread.Flags {
	switch kind {
	case jvmthread.KindWaited:
		return jvmthread.FlagTimedOut
	case jvmthread.KindWaitReturned, jvmthread.KindJoinEnd, jvmthread.KindSleepEnd:
		return jvmthread.FlagInterrupted
	}
	return 0
}

func (c *Capabilities) lacksOfThreads() (what []string) {
	for bit, name := range [...]string{"name", "group", "daemon", "virtual"} {
		if c.Threads&(1<<bit) == 0 {
			what = append(what, name)
		}
	}
	return what
}
