// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"fmt"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

// Losses finds what a format cannot carry of the events that are written in it. Capabilities.Missing is the same for any events.
type Losses struct {
	carries *Capabilities
	present [jvmthread.NumKinds]Carried
	threads ThreadFields
	series  int // of aggregates
}

// NewLosses returns Losses of a format with these capabilities.
func NewLosses(carries *Capabilities) *Losses { return &Losses{carries: carries} }

// See takes a batch that is written.
func (l *Losses) See(b *Batch) {
	for i := range b.Events {
		ev := &b.Events[i]
		p := &l.present[ev.Kind]
		p.Fields |= fieldsOf(ev)
		p.Flags |= ev.Flags
	}
	for i := range b.Threads {
		l.threads |= threadFieldsOf(&b.Threads[i])
	}
	if b.Aggregate != nil && !l.carries.Aggregates {
		l.series += len(b.Aggregate.Series)
	}
}

// Lines lists what was lost, one line each: "yield (3 events)", "timeout of wait", then the notes of the format. Omitted are the events that
// the encoder has left out, by kind.
func (l *Losses) Lines(omitted *[jvmthread.NumKinds]uint64) (lines []string) {
	for i := range wire.Events {
		spec := &wire.Events[i]
		if n := omitted[spec.Kind]; n > 0 {
			lines = append(lines, fmt.Sprintf("%s (%s)", spec.Kind, counted(n, "event")))
		}
		addMissing(&lines, l.carries.missingOf(spec, l.present[spec.Kind]), spec.Kind.String())
	}
	addMissing(&lines, l.carries.missingOfThreads(l.threads), "threads")
	if l.series > 0 {
		lines = append(lines, fmt.Sprintf("aggregates (%d series)", l.series))
	}
	return append(lines, l.carries.Notes...)
}

func addMissing(lines *[]string, missing []string, of string) {
	if len(missing) > 0 {
		*lines = append(*lines, strings.Join(missing, ", ")+" of "+of)
	}
}

func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func fieldsOf(ev *jvmthread.Event) Fields {
	fields := FieldKind | FieldTime
	for _, f := range [...]struct {
		field   Fields
		present bool
	}{
		{FieldPeer, ev.Peer != jvmthread.NoThread},
		{FieldLock, ev.Lock.Hash != 0},
		{FieldClass, ev.Lock.Class != jvmthread.NoClass},
		{FieldArg, ev.Arg != 0},
		{FieldStack, ev.Stack != jvmthread.NoStack},
	} {
		if f.present {
			fields |= f.field
		}
	}
	return fields
}

func threadFieldsOf(th *jvmthread.Thread) (fields ThreadFields) {
	for _, f := range [...]struct {
		field   ThreadFields
		present bool
	}{{ThreadName, th.Name != ""}, {ThreadGroup, th.Group != ""}, {ThreadDaemon, th.Daemon}, {ThreadVirtual, th.Virtual}} {
		if f.present {
			fields |= f.field
		}
	}
	return fields
}
