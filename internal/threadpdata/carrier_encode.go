// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// A carrier has the frames of one batch: thread, class and stackText for all that the events or series refer to, clock if it was set, then batch or aggregate. They
// differ from those of an agent's stream in two ways: times are nanoseconds since the Unix epoch, and the frames need no others.

// rawVersion is the version of this form. It changes only if older programs could misread a carrier: frames of unknown kinds are skipped.
const rawVersion = 1

// maxKeptBytes bounds the buffer that a carrier keeps, more than a frame of the default size needs.
const maxKeptBytes = 1 << 21

// encoder is the memory of AppendTo.
type encoder struct {
	frames   []byte
	sections []wire.Section
	classes  marks
	stacks   marks
}

// marks are IDs that were seen in the current round.
type marks struct {
	rounds []uint32 // by ID: the round in which it was last seen
	round  uint32
}

func (m *marks) next() {
	if m.round++; m.round == 0 {
		clear(m.rounds)
		m.round = 1
	}
}

// first reports whether an ID is seen for the first time in this round.
func (m *marks) first(id uint32) bool {
	if int(id) >= len(m.rounds) {
		m.rounds = append(m.rounds, make([]uint32, int(id)+1-len(m.rounds))...)
	}
	if m.rounds[id] == m.round {
		return false
	}
	m.rounds[id] = m.round
	return true
}

// AppendTo appends the carrier to the spans of a scope.
func (c *Carrier) AppendTo(dst ptrace.SpanSlice, sym *symbols.Table) {
	e := &c.encoder
	e.encode(c, sym)
	attributes := c.appendSpan(dst).Attributes()
	attributes.EnsureCapacity(6) // with a signature
	putText(attributes, attrRawEnd, c.End)
	if c.First > 1 {
		attributes.PutInt(attrRawFirst, int64(c.First))
	}
	attributes.PutInt(attrRawVersion, rawVersion)
	attributes.PutInt(attrRawEvents, int64(len(c.Events)))
	attributes.PutEmptyBytes(attrRawBytes).FromRaw(e.frames)
	if cap(e.frames) > maxKeptBytes {
		e.frames = nil
	}
}

// appendSpan appends a span without attributes, from the first event to the last one.
func (c *Carrier) appendSpan(dst ptrace.SpanSlice) ptrace.Span {
	span := dst.AppendEmpty()
	span.SetTraceID(pcommon.TraceID(c.Session))
	span.SetSpanID(carrierID(c))
	span.SetName(carrierSpan)
	span.SetKind(ptrace.SpanKindInternal)
	start, end := c.Watermark, c.Watermark
	if n := len(c.Events); n > 0 {
		start, end = c.Events[0].Time, c.Events[n-1].Time
		for i := range c.Events {
			start, end = min(start, c.Events[i].Time), max(end, c.Events[i].Time)
		}
	}
	span.SetStartTimestamp(stamp(start))
	span.SetEndTimestamp(stamp(end))
	return span
}

func (e *encoder) encode(c *Carrier, sym *symbols.Table) {
	e.classes.next()
	e.stacks.next()
	e.frames, e.sections = e.frames[:0], e.sections[:0]
	for _, th := range c.Threads {
		e.frames = wire.AppendThread(e.frames, th)
	}
	if c.Clock != (wire.Clock{}) {
		e.frames = wire.AppendClock(e.frames, c.Clock)
	}
	header := wire.BatchHeader{Sequence: c.Batch, Watermark: c.Watermark, Before: c.Before}
	if a := c.Aggregate; a != nil {
		for i := range a.Series {
			e.define(a.Series[i].Class, a.Series[i].Stack, sym)
		}
		e.frames = wire.AppendAggregate(e.frames, &wire.Aggregate{BatchHeader: header, Aggregate: *a})
		return
	}
	start := 0
	for i := range c.Events {
		ev := &c.Events[i]
		e.define(ev.Lock.Class, ev.Stack, sym)
		if i+1 == len(c.Events) || c.Events[i+1].Thread != ev.Thread {
			e.sections = append(e.sections, wire.Section{Thread: ev.Thread, Events: c.Events[start : i+1]})
			start = i + 1
		}
	}
	e.frames = wire.AppendBatch(e.frames, header, e.sections...)
	clear(e.sections)
}

// define defines a class and a stack, unless the carrier does.
func (e *encoder) define(class jvmthread.ClassID, stack jvmthread.StackID, sym *symbols.Table) {
	if class != jvmthread.NoClass && e.classes.first(uint32(class)) {
		e.frames = wire.AppendClass(e.frames, wire.Class{ID: class, Name: sym.Class(class)})
	}
	if stack != jvmthread.NoStack && e.stacks.first(uint32(stack)) {
		e.frames = wire.AppendStackText(e.frames, stack, sym.Whole(stack))
	}
}
