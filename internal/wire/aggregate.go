// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Aggregate is a batch of sums instead of events.
type Aggregate struct {
	BatchHeader
	jvmthread.Aggregate
}

// SeriesOverflow marks the series that contains all waits of a kind beyond the agent's limit on series.
const SeriesOverflow uint16 = 1

// The range of scales of OpenTelemetry's exponential histograms.
const (
	minScale = -10
	maxScale = 20
)

// AppendAggregate appends an aggregate. It truncates the buckets of a series that exceeds the 16-bit size.
func AppendAggregate(dst []byte, a *Aggregate) []byte {
	dst, start := begin(dst, FrameAggregate)
	dst = appendAggregateHeader(dst, a)
	for i := range a.Series {
		dst = appendSeries(dst, &a.Series[i])
	}
	return end(dst, start)
}

func appendAggregateHeader(dst []byte, a *Aggregate) []byte {
	dst = appendBatchHeader(dst, a.BatchHeader)
	dst = appendI64(dst, int64(a.From))
	dst = appendI64(dst, int64(a.To))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(a.Scale))
	return binary.LittleEndian.AppendUint32(dst, 0)
}

func appendSeries(dst []byte, s *jvmthread.Series) []byte {
	buckets := s.Buckets[:min(len(s.Buckets), (math.MaxUint16-SeriesSize)/8)]
	var flags uint16
	if s.Overflow {
		flags = SeriesOverflow
	}
	dst = appendCount(dst, SeriesSize+8*len(buckets))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.Kind))
	dst = binary.LittleEndian.AppendUint16(dst, flags)
	dst = appendCount(dst, len(buckets))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Class))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Stack))
	dst = appendI64(dst, s.Sum)
	dst = appendI64(dst, s.Max)
	dst = binary.LittleEndian.AppendUint64(dst, s.Zero)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Offset))
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	for _, n := range buckets {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

// Aggregate decodes the frame into a, reusing its memory. It returns the number of series skipped because their kind is unknown.
func (f Frame) Aggregate(a *Aggregate) (skipped uint64, err error) {
	if len(f.Payload) < AggregateHeaderSize {
		return 0, f.errorf("header needs %d bytes, have %d", AggregateHeaderSize, len(f.Payload))
	}
	batch, err := f.Batch()
	if err != nil {
		return 0, err
	}
	a.BatchHeader = batch.BatchHeader
	c := cursor{b: f.Payload[BatchHeaderSize:]}
	a.From, a.To = jvmthread.Time(c.i64("from")), jvmthread.Time(c.i64("to"))
	a.Scale = c.i32("scale")
	c.u32("reserved")
	if a.Scale < minScale || a.Scale > maxScale {
		return 0, f.errorf("scale is %d, want %d to %d", a.Scale, minScale, maxScale)
	}
	if a.To < a.From {
		return 0, f.errorf("ends %d ns before it begins", uint64(a.From)-uint64(a.To))
	}
	spare := a.Series[:cap(a.Series)]
	a.Series = a.Series[:0]
	for number := 1; len(c.b) > 0; number++ {
		var s jvmthread.Series
		if len(a.Series) < len(spare) {
			s.Buckets = spare[len(a.Series)].Buckets[:0]
		}
		known, what := c.series(&s)
		if what != "" {
			return 0, f.errorf("series %d: %s", number, what)
		}
		if !known {
			skipped++
			continue
		}
		a.Series = append(a.Series, s)
	}
	return skipped, nil
}

// series consumes a series, or returns the problem with it. A series that begins no wait is unknown.
func (c *cursor) series(s *jvmthread.Series) (known bool, what string) {
	rest := cursor{b: c.b}
	size := int(rest.u16("size"))
	kind := rest.u16("kind")
	flags := rest.u16("flags")
	count := int(rest.u16("buckets"))
	if rest.what == "" && size < SeriesSize+8*count {
		return false, fmt.Sprintf("size is %d, want at least %d", size, SeriesSize+8*count)
	}
	c.take("data", size)
	s.Class = jvmthread.ClassID(rest.u32("class"))
	s.Stack = jvmthread.StackID(rest.u32("stack"))
	s.Sum, s.Max = rest.i64("sum"), rest.i64("max")
	s.Zero = rest.u64("zero")
	s.Offset = rest.i32("offset")
	rest.u32("reserved")
	if c.what != "" || rest.what != "" {
		return false, firstOf(rest.what, c.what)
	}
	if s.Sum < 0 || s.Max < 0 {
		return false, fmt.Sprintf("sum is %d and max %d, want 0 or more", s.Sum, s.Max)
	}
	total, over := bits.Add64(s.Zero, 0, 0)
	for range count {
		n := rest.u64("bucket")
		var carry uint64
		total, carry = bits.Add64(total, n, 0)
		over |= carry
		s.Buckets = append(s.Buckets, n)
	}
	switch {
	case rest.what != "":
		return false, rest.what
	case over != 0 || total > math.MaxInt64:
		return false, fmt.Sprintf("counts more than %d waits", math.MaxInt64)
	case int64(s.Offset)+int64(count) > math.MaxInt32:
		return false, fmt.Sprintf("offset is %d with %d buckets, want at most %d together", s.Offset, count, math.MaxInt32)
	}
	s.Overflow = flags&SeriesOverflow != 0
	s.Kind = jvmthread.Kind(min(kind, math.MaxUint8))
	return s.Kind.IsWait(), ""
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
