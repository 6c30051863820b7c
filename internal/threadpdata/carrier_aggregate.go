// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"errors"
	"fmt"
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// aggregateEvent is the name of the span events that hold a series of the carrier's aggregate.
const aggregateEvent = "aggregate"

// The range of scales of OpenTelemetry's exponential histograms.
const (
	minScale = -10
	maxScale = 20
)

func (c *Carrier) appendAggregate(span ptrace.Span, sym *symbols.Table) {
	a := c.Aggregate
	attributes := span.Attributes()
	attributes.PutInt(attrAggregateFrom, int64(a.From))
	attributes.PutInt(attrAggregateTo, int64(a.To))
	attributes.PutInt(attrAggregateScale, int64(a.Scale))
	span.Events().EnsureCapacity(len(a.Series))
	for i := range a.Series {
		event := span.Events().AppendEmpty()
		event.SetName(aggregateEvent)
		event.SetTimestamp(stamp(a.To))
		c.appendSeries(event.Attributes(), &a.Series[i], sym)
	}
}

func (c *Carrier) appendSeries(attributes pcommon.Map, s *jvmthread.Series, sym *symbols.Table) {
	attributes.EnsureCapacity(8)
	attributes.PutStr(attrAggregateKind, s.Kind.String())
	if s.Class != jvmthread.NoClass {
		attributes.PutStr(attrLockClass, sym.Class(s.Class))
	}
	if s.Stack != jvmthread.NoStack {
		attributes.PutInt(attrEventStack, int64(c.stackIndex(s.Stack)))
	}
	attributes.PutInt(attrAggregateSum, s.Sum)
	attributes.PutInt(attrAggregateMax, s.Max)
	if s.Zero != 0 {
		attributes.PutInt(attrAggregateZero, int64(s.Zero))
	}
	if len(s.Buckets) > 0 {
		attributes.PutInt(attrAggregateOffset, int64(s.Offset))
		buckets := attributes.PutEmptySlice(attrAggregateBuckets)
		buckets.EnsureCapacity(len(s.Buckets))
		for _, n := range s.Buckets {
			buckets.AppendEmpty().SetInt(int64(n))
		}
	}
	putTrue(attributes, attrAggregateOverflow, s.Overflow)
}

// aggregate creates the carrier's aggregate at its first attribute.
func (c *Carrier) aggregate() *jvmthread.Aggregate {
	if c.Aggregate == nil {
		c.Aggregate = &jvmthread.Aggregate{}
	}
	return c.Aggregate
}

// parseSeries adds a series, unless its kind is unknown.
func (c *Carrier) parseSeries(attributes pcommon.Map, sym *symbols.Table) error {
	if c.Aggregate == nil {
		return fmt.Errorf("%s is missing", attrAggregateTo)
	}
	var s jvmthread.Series
	for key, value := range attributes.All() {
		if err := c.parseSeriesAttribute(&s, key, value, sym); err != nil {
			return fmt.Errorf("%s %w", key, err)
		}
	}
	total := s.Zero
	for _, n := range s.Buckets {
		if total += n; total > math.MaxInt64 {
			return fmt.Errorf("%s counts more than %d waits", attrAggregateBuckets, math.MaxInt64)
		}
	}
	switch end := int64(s.Offset) + int64(len(s.Buckets)); {
	case len(s.Buckets) == 0:
		s.Offset = 0
	case end > math.MaxInt32:
		return fmt.Errorf("%s and %s end at bucket %d, want at most %d", attrAggregateOffset, attrAggregateBuckets, end, math.MaxInt32)
	}
	if s.Kind.IsWait() {
		c.Aggregate.Series = append(c.Aggregate.Series, s)
	}
	return nil
}

func (c *Carrier) parseSeriesAttribute(s *jvmthread.Series, key string, value pcommon.Value, sym *symbols.Table) (err error) {
	var name string
	switch key {
	case attrAggregateKind:
		name, err = text(value)
		s.Kind, _ = jvmthread.ParseKind(name)
	case attrLockClass:
		name, err = text(value)
		s.Class = sym.InternClass(name)
	case attrEventStack:
		s.Stack, err = c.stack(value)
	case attrAggregateSum:
		err = integer(value, 0, math.MaxInt64, &s.Sum)
	case attrAggregateMax:
		err = integer(value, 0, math.MaxInt64, &s.Max)
	case attrAggregateZero:
		err = integer(value, 0, math.MaxInt64, &s.Zero)
	case attrAggregateOffset:
		err = integer(value, math.MinInt32, math.MaxInt32, &s.Offset)
	case attrAggregateOverflow:
		s.Overflow, err = boolean(value)
	case attrAggregateBuckets:
		s.Buckets, err = counts(value)
	}
	return err
}

func counts(value pcommon.Value) ([]uint64, error) {
	if value.Type() != pcommon.ValueTypeSlice {
		return nil, fmt.Errorf("is of type %s, want Slice", value.Type())
	}
	if value.Slice().Len() > math.MaxUint16 {
		return nil, errors.New("has too many elements")
	}
	list := make([]uint64, value.Slice().Len())
	for i, element := range value.Slice().All() {
		if err := integer(element, 0, math.MaxInt64, &list[i]); err != nil {
			return nil, fmt.Errorf("at %d %w", i, err)
		}
	}
	return list, nil
}
