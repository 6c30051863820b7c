// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// carrierScope is the name of the instrumentation scope that only carriers have.
const carrierScope = "github.com/weft-otel/weft/raw"

const carrierSpan = "weft.raw"

// What Carrier.End says about how a session ended.
const (
	EndExit     = "exit"     // the JVM ended in order
	EndDetached = "detached" // the agent was switched off
	EndLost     = "lost"     // the agent's connection broke and it did not come back
)

// Carrier is the raw events of one thread in one batch, as they travel between components: one span with the events as span events. A
// batch without events is one carrier without a thread; so is the end of a session, and a batch that has an aggregate in place of events. A thread without events is a peer of others, and the
// carrier only says who that is.
//
// A carrier can be used again: what it has allocated serves the next AppendTo or Parse.
type Carrier struct {
	Session   jvmthread.SessionID
	Batch     uint64 // from 1
	Part      uint32 // which of the batch's carriers this is, from 0
	Parts     uint32 // how many carriers the batch has
	Watermark jvmthread.Time
	Before    uint64 // events in all earlier batches
	End       string // not empty: the session is over, nothing follows
	Thread    jvmthread.Thread
	Aggregate *jvmthread.Aggregate // not nil: the batch has sums in place of events, and no thread
	Events    []jvmthread.Event    // of Thread, in order; ids of classes and stacks are those of the symbol table at hand

	class   string // that was interned last: most events of a thread in a row speak of the same
	classID jvmthread.ClassID
	stacks  []jvmthread.StackID // of weft.raw.stacks, by index
	indices map[jvmthread.StackID]int
}

// IsCarrier reports whether the spans of a scope are carriers.
func IsCarrier(scope pcommon.InstrumentationScope) bool { return scope.Name() == carrierScope }

// MarkCarriers says of a scope that its spans are carriers.
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
	if c.End != "" {
		attributes.PutStr(attrRawEnd, c.End)
	}
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
		texts.AppendEmpty().SetStr(sym.Stack(id))
	}
}

func (c *Carrier) appendThread(attributes pcommon.Map) {
	attributes.PutInt(attrThreadID, int64(c.Thread.ID))
	if c.Thread.Name != "" {
		attributes.PutStr(attrThreadName, c.Thread.Name)
	}
	if c.Thread.Group != "" {
		attributes.PutStr(attrThreadGroup, c.Thread.Group)
	}
	if c.Thread.Daemon {
		attributes.PutBool(attrThreadDaemon, true)
	}
	if c.Thread.Virtual {
		attributes.PutBool(attrVirtual, true)
	}
	if c.Thread.Carrier {
		attributes.PutBool(attrCarrierThread, true)
	}
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

// countAttributes is worth its price: to append to a slice that is too short costs more.
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

// stackIndex returns the place of a stack in weft.raw.stacks.
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
