// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"errors"
	"fmt"
	"io"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

// Parse replaces c with the carrier that a span holds; IsCarrier must be true for its scope. Names of classes and stacks are interned into
// sym. An error names the invalid attribute; c is then undefined.
func Parse(span ptrace.Span, sym *symbols.Table, c *Carrier) error {
	*c = Carrier{
		Session: jvmthread.SessionID(span.TraceID()), Threads: c.Threads[:0], Events: c.Events[:0], encoder: c.encoder, ids: c.ids,
	}
	if c.Session[0] == 0 {
		return fmt.Errorf("trace ID %s is not a session ID", span.TraceID())
	}
	attributes := span.Attributes()
	version := 0
	if err := integer(attributes, attrRawVersion, 1, rawVersion, &version); err != nil {
		return fmt.Errorf("%w; update this collector if it is older than the sender", err)
	}
	if version == 0 {
		return fmt.Errorf("%s is missing", attrRawVersion)
	}
	value, ok := attributes.Get(attrRawBytes)
	switch {
	case !ok:
		return fmt.Errorf("%s is missing", attrRawBytes)
	case value.Type() != pcommon.ValueTypeBytes:
		return fmt.Errorf("%s is of type %s, want Bytes", attrRawBytes, value.Type())
	}
	if end, ok := attributes.Get(attrRawEnd); ok {
		if end.Type() != pcommon.ValueTypeStr {
			return fmt.Errorf("%s is of type %s, want Str", attrRawEnd, end.Type())
		}
		c.End = end.Str()
	}
	if err := integer(attributes, attrRawFirst, math.MinInt64, math.MaxInt64, &c.First); err != nil {
		return err
	}
	if err := c.parseFrames(value.Bytes().AsRaw(), sym); err != nil {
		return fmt.Errorf("%s: %w", attrRawBytes, err)
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

// integer sets *to to an attribute within bounds, if there is one.
func integer[T ~int | ~uint64](attributes pcommon.Map, key string, lower, upper int64, to *T) error {
	value, ok := attributes.Get(key)
	switch {
	case !ok:
		return nil
	case value.Type() != pcommon.ValueTypeInt:
		return fmt.Errorf("%s is of type %s, want Int", key, value.Type())
	case value.Int() < lower || value.Int() > upper:
		return fmt.Errorf("%s is %d, want %d to %d", key, value.Int(), lower, upper)
	}
	*to = T(value.Int())
	return nil
}

func (c *Carrier) parseFrames(data []byte, sym *symbols.Table) error {
	c.ids.classes.clear()
	c.ids.stacks.clear()
	frames := wire.NewScanner(data)
	for {
		frame, err := frames.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = c.parseFrame(frame, sym)
		}
		if err != nil {
			return err
		}
	}
	if c.Batch == 0 {
		return errors.New("the batch is missing")
	}
	return nil
}

func (c *Carrier) parseFrame(frame wire.Frame, sym *symbols.Table) error {
	switch frame.Kind {
	case wire.FrameThread:
		th, err := frame.Thread()
		c.Threads = append(c.Threads, th)
		return err
	case wire.FrameClass:
		id, name, err := frame.ClassText()
		if err == nil {
			err = c.ids.classes.define(id, sym.InternClassText(name, c.ids.classes.last(id)))
		}
		return err
	case wire.FrameStackText:
		id, text, err := frame.StackText()
		if err == nil {
			err = c.ids.stacks.define(id, sym.InternStackText(text, c.ids.stacks.last(id)))
		}
		return err
	case wire.FrameClock:
		return c.parseClock(frame)
	case wire.FrameBatch:
		return c.parseBatch(frame)
	case wire.FrameAggregate:
		return c.parseAggregate(frame)
	default:
		return fmt.Errorf("unexpected frame %s", frame.Kind)
	}
}

func (c *Carrier) parseClock(frame wire.Frame) (err error) {
	if c.Clock, err = frame.Clock(); err == nil {
		err = c.Clock.Check()
	}
	return err
}

// begin takes the header of the only batch.
func (c *Carrier) begin(h wire.BatchHeader) error {
	switch {
	case c.Batch != 0:
		return errors.New("there are two batches")
	case h.Before > jvmthread.MaxEvents:
		return fmt.Errorf("%d events before the batch, want at most %d", h.Before, uint64(jvmthread.MaxEvents))
	}
	c.Batch, c.Watermark, c.Before = h.Sequence, h.Watermark, h.Before
	return nil
}

func (c *Carrier) parseBatch(frame wire.Frame) error {
	batch, err := frame.Batch()
	if err == nil {
		err = c.begin(batch.BatchHeader)
	}
	for err == nil && batch.More() {
		_, c.Events, err = batch.Section(c.Events)
	}
	if err != nil {
		return err
	}
	for i := range c.Events {
		ev := &c.Events[i]
		if ev.Time < 0 { // so that differences of times do not overflow
			return fmt.Errorf("event %d: time is %d, want 0 or more", i, ev.Time)
		}
		if !c.ids.resolve(&ev.Lock.Class, &ev.Stack) {
			return fmt.Errorf("event %d: refers to a class or stack that the carrier does not define", i)
		}
	}
	return nil
}

func (c *Carrier) parseAggregate(frame wire.Frame) error {
	var a wire.Aggregate
	_, err := frame.Aggregate(&a)
	if err == nil {
		err = c.begin(a.BatchHeader)
	}
	if err != nil {
		return err
	}
	for i := range a.Series {
		if !c.ids.resolve(&a.Series[i].Class, &a.Series[i].Stack) {
			return fmt.Errorf("series %d: refers to a class or stack that the carrier does not define", i)
		}
	}
	c.Aggregate = &a.Aggregate
	return nil
}
