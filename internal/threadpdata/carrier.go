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

// Carrier is a span that holds one batch, as components exchange them: with everything that its events refer to. A batch without events, the
// end of a session and an aggregate are carriers, too.
//
// AppendTo and Parse reuse the memory of a carrier.
type Carrier struct {
	Session   jvmthread.SessionID
	Batch     uint64 // from 1
	Watermark jvmthread.Time
	Before    uint64               // events in all earlier batches
	First     uint64               // the first batch that the sender got from the JVM; 0 or 1: all, or not known
	Clock     wire.Clock           // if not zero, the wall clock at a time of the session, since when it differs from that of the session
	End       string               // if not empty, why the session ended; no batch follows
	Threads   []jvmthread.Thread   // that the carrier describes
	Aggregate *jvmthread.Aggregate // if not nil, the batch has sums instead of events
	Events    []jvmthread.Event    // grouped by thread, each group in order; class and stack IDs refer to the symbol table of the call

	encoder encoder
	ids     definedIDs
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
	return 0
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
	const perCarrier = 1 << 10
	if value, ok := span.Attributes().Get(attrRawBytes); ok && value.Type() == pcommon.ValueTypeBytes {
		return perCarrier + value.Bytes().Len()
	}
	return perCarrier
}

// WithoutEvents returns a carrier without its events, and how many these are. It returns false if the carrier is invalid or has none. Names of
// threads are lost; the next carriers repeat them.
func WithoutEvents(span ptrace.Span) (rest ptrace.Span, events int64, ok bool) {
	sym := symbols.New(symbols.DefaultLimits())
	var c Carrier
	if err := Parse(span, sym, &c); err != nil || len(c.Events) == 0 {
		return span, 0, false
	}
	for i := range c.Events {
		if c.Events[i].Kind != jvmthread.KindGap {
			events++
		}
	}
	c.Events, c.Threads = nil, nil
	spans := ptrace.NewSpanSlice()
	c.AppendTo(spans, sym)
	return spans.At(0), events, true
}

// MarkCarriers marks the spans of a scope as carriers.
func MarkCarriers(scope pcommon.InstrumentationScope) { scope.SetName(carrierScope) }
