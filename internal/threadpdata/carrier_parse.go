// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/hex"
	"fmt"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Parse replaces c with the carrier that a span holds; IsCarrier must be true for its scope. Names of classes and stacks are interned into
// sym, and span events with unknown names are skipped. An error names the invalid attribute; c is then undefined.
func Parse(span ptrace.Span, sym *symbols.Table, c *Carrier) error {
	*c = Carrier{
		Session: jvmthread.SessionID(span.TraceID()), Threads: c.Threads[:0], Events: c.Events[:0],
		stacks: c.stacks[:0], indices: c.indices, encoder: c.encoder, ids: c.ids,
	}
	if c.Session[0] == 0 {
		return fmt.Errorf("trace ID %s is not a session ID", span.TraceID())
	}
	if value, ok := span.Attributes().Get(attrRawBytes); ok {
		return c.parseBytes(span.Attributes(), value, sym)
	}
	if err := c.parseSpan(span.Attributes(), sym); err != nil {
		return err
	}
	events := span.Events()
	if events.Len() == 0 {
		return nil
	}
	if len(c.Threads) == 0 && c.Aggregate == nil {
		return fmt.Errorf("%s is missing", attrThreadID)
	}
	for i := range events.Len() {
		event := events.At(i)
		var err error
		if event.Name() == aggregateEvent {
			err = c.parseSeries(event.Attributes(), sym)
		} else if c.Aggregate == nil {
			err = c.parseEvent(event, sym)
		}
		if err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

// Check returns the error that Parse would return, before there is a symbol table for the session.
func Check(span ptrace.Span) error {
	var c Carrier
	return Parse(span, symbols.New(symbols.DefaultLimits()), &c)
}

// BatchOf returns the batch of a valid carrier, before there is a symbol table for the session.
func BatchOf(span ptrace.Span) uint64 {
	var c Carrier
	_ = Parse(span, symbols.New(symbols.DefaultLimits()), &c) // valid
	return c.Batch
}

func (c *Carrier) parseSpan(attributes pcommon.Map, sym *symbols.Table) error {
	c.Parts = 1
	hasWatermark := false
	var thread jvmthread.Thread
	for key, value := range attributes.All() {
		var err error
		switch key {
		case attrRawBatch:
			err = integer(value, math.MinInt64, math.MaxInt64, &c.Batch)
		case attrRawPart:
			err = integer(value, 0, math.MaxUint32, &c.Part)
		case attrRawParts:
			err = integer(value, 1, math.MaxUint32, &c.Parts)
		case attrRawWatermark:
			hasWatermark, err = true, integer(value, math.MinInt64, math.MaxInt64, &c.Watermark)
		case attrRawBefore:
			err = integer(value, 0, jvmthread.MaxEvents, &c.Before)
		case attrRawFirst:
			err = integer(value, math.MinInt64, math.MaxInt64, &c.First)
		case attrRawEnd:
			c.End, err = text(value)
		case attrRawStacks:
			err = c.parseStacks(value, sym)
		case attrAggregateFrom:
			err = integer(value, math.MinInt64, math.MaxInt64, &c.aggregate().From)
		case attrAggregateTo:
			err = integer(value, math.MinInt64, math.MaxInt64, &c.aggregate().To)
		case attrAggregateScale:
			err = integer(value, minScale, maxScale, &c.aggregate().Scale)
		default:
			err = parseThread(&thread, key, value)
		}
		if err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
	}
	if thread.ID != jvmthread.NoThread {
		c.Threads = append(c.Threads, thread)
	}
	switch {
	case c.Batch == 0:
		return fmt.Errorf("%s is missing", attrRawBatch)
	case !hasWatermark:
		return fmt.Errorf("%s is missing", attrRawWatermark)
	case c.Part >= c.Parts:
		return fmt.Errorf("%s is %d of %d", attrRawPart, c.Part, c.Parts)
	}
	return nil
}

func parseThread(th *jvmthread.Thread, key string, value pcommon.Value) (err error) {
	switch key {
	case attrThreadID:
		err = integer(value, math.MinInt64, math.MaxInt64, &th.ID)
	case attrThreadName:
		th.Name, err = text(value)
	case attrThreadGroup:
		th.Group, err = text(value)
	case attrThreadDaemon:
		th.Daemon, err = boolean(value)
	case attrVirtual:
		th.Virtual, err = boolean(value)
	case attrCarrierThread:
		th.Carrier, err = boolean(value)
	case attrForeign:
		th.Foreign, err = text(value)
	}
	return err
}

func (c *Carrier) parseStacks(value pcommon.Value, sym *symbols.Table) error {
	if value.Type() != pcommon.ValueTypeSlice {
		return fmt.Errorf("is of type %s, want Slice", value.Type())
	}
	c.stacks = c.stacks[:0]
	for i, element := range value.Slice().All() {
		stack, err := text(element)
		if err != nil {
			return fmt.Errorf("at %d %w", i, err)
		}
		c.stacks = append(c.stacks, sym.InternStack(stack))
	}
	return nil
}

func (c *Carrier) parseEvent(event ptrace.SpanEvent, sym *symbols.Table) error {
	kind, ok := jvmthread.ParseKind(event.Name())
	if !ok {
		return nil
	}
	if event.Timestamp() > math.MaxInt64 { // so that differences of times do not overflow
		return fmt.Errorf("time is %d, want 0 to %d", event.Timestamp(), math.MaxInt64)
	}
	ev := jvmthread.Event{Time: jvmthread.Time(event.Timestamp()), Thread: c.Threads[0].ID, Kind: kind}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if kind == jvmthread.KindGap {
		least, most = 0, jvmthread.MaxLost
	}
	var err error
	for key, value := range event.Attributes().All() {
		switch key {
		case attrEventPeer:
			err = integer(value, math.MinInt64, math.MaxInt64, &ev.Peer)
		case attrEventArg:
			err = integer(value, least, most, &ev.Arg)
		case attrEventFlags:
			err = integer(value, 0, math.MaxUint16, &ev.Flags)
		case attrEventStack:
			ev.Stack, err = c.stack(value)
		case attrLockClass:
			var class string
			if class, err = text(value); class != c.class || c.classID == jvmthread.NoClass {
				c.class, c.classID = class, sym.InternClass(class)
			}
			ev.Lock.Class = c.classID
		case attrLockID:
			err = integer(value, 0, math.MaxUint32, &ev.Lock.Hash)
		case attrEventTraceID:
			err = spanDigits(kind, value, ev.Span.TraceID[:])
		case attrEventSpanID:
			err = spanDigits(kind, value, ev.Span.SpanID[:])
		}
		if err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
	}
	c.Events = append(c.Events, ev)
	return nil
}

// stack returns the stack that an index into weft.raw.stacks refers to.
func (c *Carrier) stack(value pcommon.Value) (jvmthread.StackID, error) {
	var i int
	if err := integer(value, 0, int64(len(c.stacks))-1, &i); err != nil {
		return jvmthread.NoStack, err
	}
	return c.stacks[i], nil
}

// integer sets *to to an integer within bounds.
func integer[T ~int | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64](value pcommon.Value, least, most int64, to *T) error {
	if value.Type() != pcommon.ValueTypeInt {
		return fmt.Errorf("is of type %s, want Int", value.Type())
	}
	n := value.Int()
	if n < least || n > most {
		return fmt.Errorf("is %d, want %d to %d", n, least, most)
	}
	*to = T(n)
	return nil
}

func text(value pcommon.Value) (string, error) {
	if value.Type() != pcommon.ValueTypeStr {
		return "", fmt.Errorf("is of type %s, want Str", value.Type())
	}
	return value.Str(), nil
}

func boolean(value pcommon.Value) (bool, error) {
	if value.Type() != pcommon.ValueTypeBool {
		return false, fmt.Errorf("is of type %s, want Bool", value.Type())
	}
	return value.Bool(), nil
}

// spanDigits fills dst from hexadecimal digits if events of the kind carry a span.
func spanDigits(kind jvmthread.Kind, value pcommon.Value, dst []byte) error {
	if !kind.CarriesSpan() {
		return nil
	}
	return digits(value, dst)
}

// digits fills dst from hexadecimal digits.
func digits(value pcommon.Value, dst []byte) error {
	s, err := text(value)
	if err != nil {
		return err
	}
	if len(s) == hex.EncodedLen(len(dst)) {
		_, err = hex.Decode(dst, []byte(s))
	}
	if err != nil || len(s) != hex.EncodedLen(len(dst)) {
		return fmt.Errorf("is %q, want %d hexadecimal digits", s, hex.EncodedLen(len(dst)))
	}
	return nil
}
