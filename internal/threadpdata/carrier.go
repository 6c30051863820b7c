// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/hex"

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

// Carrier is a span that holds raw events of one batch, as components exchange them. Carriers have one of two forms. In the form of bytes, a
// batch is one carrier, with everything that its events refer to. In the form of events, each thread of the batch has a carrier, with a span
// event for each event; that of a thread without events only describes it. A batch without events, the end of a session, and a batch with an
// aggregate instead of events are each one carrier without a thread, in either form.
//
// AppendTo, AppendBytesTo and Parse reuse the memory of a carrier.
type Carrier struct {
	Session   jvmthread.SessionID
	Batch     uint64 // from 1
	Part      uint32 // which of the batch's carriers this is, from 0
	Parts     uint32 // how many carriers the batch has
	Watermark jvmthread.Time
	Before    uint64               // events in all earlier batches
	First     uint64               // the first batch that the sender got from the JVM; 0 or 1: all, or not known
	End       string               // if not empty, why the session ended; no batch follows
	Threads   []jvmthread.Thread   // that the carrier describes; in the form of events at most one
	Aggregate *jvmthread.Aggregate // if not nil, the batch has sums instead of events, and no thread
	Events    []jvmthread.Event    // grouped by thread, each group in order; class and stack IDs refer to the symbol table of the call

	class   string // interned last: consecutive events of a thread mostly have the same class
	classID jvmthread.ClassID
	stacks  []jvmthread.StackID // of weft.raw.stacks, by index
	indices map[jvmthread.StackID]int
	encoder bytesEncoder
	ids     bytesIDs
}

// IsCarrier reports whether the spans of a scope are carriers.
func IsCarrier(scope pcommon.InstrumentationScope) bool { return scope.Name() == carrierScope }

// Others returns what td contains besides carriers: td itself if there are none. td does not change.
func Others(td ptrace.Traces) ptrace.Traces {
	carriers, others := 0, 0
	for _, rs := range td.ResourceSpans().All() {
		if rs.ScopeSpans().Len() == 0 {
			others++
		}
		for _, ss := range rs.ScopeSpans().All() {
			if IsCarrier(ss.Scope()) {
				carriers++
			} else {
				others++
			}
		}
	}
	if carriers == 0 {
		return td
	}
	rest := ptrace.NewTraces()
	if others == 0 {
		return rest
	}
	td.CopyTo(rest)
	rest.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		all := rs.ScopeSpans().Len()
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool { return IsCarrier(ss.Scope()) })
		return all > 0 && rs.ScopeSpans().Len() == 0
	})
	return rest
}

// CountEvents returns the number of events in a carrier, which may be invalid.
func CountEvents(span ptrace.Span) int64 {
	if n, ok := span.Attributes().Get(attrRawEvents); ok {
		return min(max(0, n.Int()), jvmthread.MaxLost)
	}
	return int64(span.Events().Len())
}

// EndOf returns why the session ends with a carrier, which may be invalid; empty: it does not.
func EndOf(span ptrace.Span) string {
	if end, ok := span.Attributes().Get(attrRawEnd); ok {
		return end.AsString()
	}
	return ""
}

// SizeOf estimates the bytes of a carrier, which may be invalid, in memory.
func SizeOf(span ptrace.Span) int {
	const perCarrier, perEvent = 1 << 10, 400 // an event in the form of events has five attributes
	n := perCarrier + perEvent*span.Events().Len()
	if value, ok := span.Attributes().Get(attrRawBytes); ok && value.Type() == pcommon.ValueTypeBytes {
		n += value.Bytes().Len()
	}
	if value, ok := span.Attributes().Get(attrRawStacks); ok && value.Type() == pcommon.ValueTypeSlice {
		for _, text := range value.Slice().All() {
			n += len(text.Str())
		}
	}
	return n
}

// WithoutEvents returns a carrier without its events, and how many these are. It returns false if the carrier is invalid or has none. Names of
// threads in the form of bytes are lost; the next carriers repeat them.
func WithoutEvents(span ptrace.Span) (rest ptrace.Span, events int64, ok bool) {
	sym := symbols.New(symbols.DefaultLimits())
	var c Carrier
	if err := Parse(span, sym, &c); err != nil || len(c.Events) == 0 || c.Aggregate != nil {
		return span, 0, false
	}
	for i := range c.Events {
		if c.Events[i].Kind != jvmthread.KindGap {
			events++
		}
	}
	c.Events = nil
	if len(c.Threads) != 1 {
		c.Threads = nil
	}
	spans := ptrace.NewSpanSlice()
	c.AppendTo(spans, sym)
	return spans.At(0), events, true
}

// MarkCarriers marks the spans of a scope as carriers.
func MarkCarriers(scope pcommon.InstrumentationScope) { scope.SetName(carrierScope) }

// AppendTo appends the carrier to the spans of a scope, in the form of events. It describes at most one thread.
func (c *Carrier) AppendTo(dst ptrace.SpanSlice, sym *symbols.Table) {
	span := c.appendSpan(dst)
	attributes := span.Attributes()
	attributes.EnsureCapacity(12)
	attributes.PutInt(attrRawBatch, int64(c.Batch))
	attributes.PutInt(attrRawPart, int64(c.Part))
	attributes.PutInt(attrRawParts, int64(c.Parts))
	attributes.PutInt(attrRawWatermark, int64(c.Watermark))
	attributes.PutInt(attrRawBefore, int64(c.Before))
	putText(attributes, attrRawEnd, c.End)
	c.putFirst(attributes)
	c.stacks = c.stacks[:0]
	clear(c.indices)
	switch {
	case c.Aggregate != nil:
		c.appendAggregate(span, sym)
	case len(c.Threads) > 0:
		appendThread(attributes, &c.Threads[0])
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

// putFirst writes where the sender began, if not with the session.
func (c *Carrier) putFirst(attributes pcommon.Map) {
	if c.First > 1 {
		attributes.PutInt(attrRawFirst, int64(c.First))
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

func appendThread(attributes pcommon.Map, th *jvmthread.Thread) {
	attributes.PutInt(attrThreadID, int64(th.ID))
	putText(attributes, attrThreadName, th.Name)
	putText(attributes, attrThreadGroup, th.Group)
	putTrue(attributes, attrThreadDaemon, th.Daemon)
	putTrue(attributes, attrVirtual, th.Virtual)
	putTrue(attributes, attrCarrierThread, th.Carrier)
	putText(attributes, attrForeign, th.Foreign)
}

func (c *Carrier) appendEvents(dst ptrace.SpanEventSlice, sym *symbols.Table) {
	dst.EnsureCapacity(len(c.Events))
	for i := range c.Events {
		ev := &c.Events[i]
		event := dst.AppendEmpty()
		event.SetName(ev.Kind.String())
		event.SetTimestamp(stamp(ev.Time))

		attributes := event.Attributes()
		if ev.Kind.CarriesSpan() {
			putSpan(attributes, ev.Span)
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

// putSpan names the span that an event carries, as far as it does.
func putSpan(a pcommon.Map, span jvmthread.SpanContext) {
	if span.TraceID != [16]byte{} {
		a.PutStr(attrEventTraceID, hex.EncodeToString(span.TraceID[:]))
	}
	if span.SpanID != [8]byte{} {
		a.PutStr(attrEventSpanID, hex.EncodeToString(span.SpanID[:]))
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
