// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

const (
	carrierScope = "github.com/weft-otel/weft/raw" // instrumentation scope of carriers only
	carrierSpan  = "weft.raw"
)

// Reasons for the end of a session.
const (
	EndExit     = "exit"     // the JVM exited normally
	EndDetached = "detached" // the agent was turned off
	EndLost     = "lost"     // the connection of the agent broke and was not restored
)

// Carrier holds the raw events of one thread in one batch, as components exchange them: a span with the events as span events. A batch
// without events, the end of a session, and a batch with an aggregate instead of events are each one carrier without a thread. The carrier of
// a thread without events only identifies it for the events of others.
//
// AppendTo and Parse reuse the memory of a carrier.
type Carrier struct {
	Session   jvmthread.SessionID
	Batch     uint64 // from 1
	Part      uint32 // which of the batch's carriers this is, from 0
	Parts     uint32 // how many carriers the batch has
	Watermark jvmthread.Time
	Before    uint64 // events in all earlier batches
	End       string // if not empty, why the session ended; no batch follows
	Thread    jvmthread.Thread
	Aggregate *jvmthread.Aggregate // if not nil, the batch has sums instead of events, and no thread
	Events    []jvmthread.Event    // of Thread, in order; class and stack IDs refer to the symbol table of the call

	class   string // interned last: consecutive events of a thread mostly have the same class
	classID jvmthread.ClassID
	stacks  []jvmthread.StackID // of weft.raw.stacks, by index
	indices map[jvmthread.StackID]int
}

// IsCarrier reports whether the spans of a scope are carriers.
func IsCarrier(scope pcommon.InstrumentationScope) bool { return scope.Name() == carrierScope }

// MarkCarriers marks the spans of a scope as carriers.
func MarkCarriers(scope pcommon.InstrumentationScope) { scope.SetName(carrierScope) }

// AppendTo appends the carrier to the spans of a scope.
func (c *Carrier) AppendTo(dst ptrace.SpanSlice, sym *symbols.Table) {
	span := dst.AppendEmpty()
	span.SetTraceID(pcommon.TraceID(c.Session))
	span.SetSpanID(carrierID(c))
	span.SetName(carrierSpan)
	span.SetKind(ptrace.SpanKindInternal)
	start, end := c.Watermark, c.Watermark
	if n := len(c.Events); n > 0 {
		start, end = c.Events[0].Time, c.Events[n-1].Time
	}
	span.SetStartTimestamp(stamp(start))
	span.SetEndTimestamp(stamp(end))

	attributes := span.Attributes()
	attributes.EnsureCapacity(12)
	attributes.PutInt(attrRawBatch, int64(c.Batch))
	attributes.PutInt(attrRawPart, int64(c.Part))
	attributes.PutInt(attrRawParts, int64(c.Parts))
	attributes.PutInt(attrRawWatermark, int64(c.Watermark))
	attributes.PutInt(attrRawBefore, int64(c.Before))
	putText(attributes, attrRawEnd, c.End)
	c.stacks = c.stacks[:0]
	clear(c.indices)
	switch {
	case c.Aggregate != nil:
		c.appendAggregate(span, sym)
	case c.Thread.ID != jvmthread.NoThread:
		c.appendThread(attributes)
		c.appendEvents(span.Events(), sym)
	}
	if len(c.stacks) == 0 {
		return
	}
	texts := attributes.PutEmptySlice(attrRawStacks)
	texts.EnsureCapacity(len(c.stacks))
	for _, id := range c.stacks {
		texts.AppendEmpty().SetStr(sym.Whole(id))
	}
}

func (c *Carrier) appendThread(attributes pcommon.Map) {
	attributes.PutInt(attrThreadID, int64(c.Thread.ID))
	putText(attributes, attrThreadName, c.Thread.Name)
	putText(attributes, attrThreadGroup, c.Thread.Group)
	putTrue(attributes, attrThreadDaemon, c.Thread.Daemon)
	putTrue(attributes, attrVirtual, c.Thread.Virtual)
	putTrue(attributes, attrCarrierThread, c.Thread.Carrier)
	putText(attributes, attrForeign, c.Thread.Foreign)
}

func (c *Carrier) appendEvents(dst ptrace.SpanEventSlice, sym *symbols.Table) {
	dst.EnsureCapacity(len(c.Events))
	for i := range c.Events {
		ev := &c.Events[i]
		event := dst.AppendEmpty()
		event.SetName(ev.Kind.String())
		event.SetTimestamp(stamp(ev.Time))

		attributes := event.Attributes()
		if ev.Kind == jvmthread.KindContext {
			putContext(attributes, attrEventTraceID, attrEventSpanID, ev.Span)
			continue
		}
		if n := countAttributes(ev); n > 0 {
			attributes.EnsureCapacity(n)
		}
		if ev.Peer != jvmthread.NoThread {
			attributes.PutInt(attrEventPeer, int64(ev.Peer))
		}
		if !ev.Lock.IsZero() {
			attributes.PutStr(attrLockClass, sym.Class(ev.Lock.Class))
			attributes.PutInt(attrLockID, int64(ev.Lock.Hash))
		}
		if ev.Arg != 0 {
			attributes.PutInt(attrEventArg, ev.Arg)
		}
		if ev.Flags != 0 {
			attributes.PutInt(attrEventFlags, int64(ev.Flags))
		}
		if ev.Stack != jvmthread.NoStack {
			attributes.PutInt(attrEventStack, int64(c.stackIndex(ev.Stack)))
		}
	}
}

// countAttributes avoids growing the slice of attributes, which costs more.
func countAttributes(ev *jvmthread.Event) int {
	n := 0
	if ev.Peer != jvmthread.NoThread {
		n++
	}
	if !ev.Lock.IsZero() {
		n += 2
	}
	if ev.Arg != 0 {
		n++
	}
	if ev.Flags != 0 {
		n++
	}
	if ev.Stack != jvmthread.NoStack {
		n++
	}
	return n
}

// stackIndex returns the index of a stack in weft.raw.stacks.
func (c *Carrier) stackIndex(id jvmthread.StackID) int {
	if index, ok := c.indices[id]; ok {
		return index
	}
	if c.indices == nil {
		c.indices = make(map[jvmthread.StackID]int)
	}
	index := len(c.stacks)
	c.stacks = append(c.stacks, id)
	c.indices[id] = index
	return index
}
