// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/engine/contention"
)

// histogram adds a point of a histogram, if anything is in it.
func (s *statement) histogram(id metricID, from series, h *contention.Histogram) (pcommon.Map, bool) {
	if h == nil || h.Count == 0 {
		return pcommon.Map{}, false
	}
	if s.Bounds == nil {
		return s.exponential(id, from, h), true
	}
	p := s.metric(id, from).Histogram().DataPoints().AppendEmpty()
	p.SetStartTimestamp(pcommon.NewTimestampFromTime(from.start))
	p.SetTimestamp(pcommon.NewTimestampFromTime(s.Now))
	s.mark(from, p.Attributes())
	if from.expired {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return p.Attributes(), true
	}
	p.SetCount(h.Count)
	p.SetSum(h.Sum.Seconds())
	p.SetMin(h.Min.Seconds())
	p.SetMax(h.Max.Seconds())
	p.ExplicitBounds().FromRaw(s.bounds)
	p.BucketCounts().FromRaw(h.Buckets)
	s.exemplars(h, p.Exemplars())
	return p.Attributes(), true
}

func (s *statement) exponential(id metricID, from series, h *contention.Histogram) pcommon.Map {
	p := s.metric(id, from).ExponentialHistogram().DataPoints().AppendEmpty()
	p.SetStartTimestamp(pcommon.NewTimestampFromTime(from.start))
	p.SetTimestamp(pcommon.NewTimestampFromTime(s.Now))
	s.mark(from, p.Attributes())
	if from.expired {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return p.Attributes()
	}
	p.SetCount(h.Count)
	p.SetSum(h.Sum.Seconds())
	p.SetMin(h.Min.Seconds())
	p.SetMax(h.Max.Seconds())
	p.SetZeroCount(h.Scaled.Zero)
	p.SetScale(h.Scaled.Scale)
	p.Positive().SetOffset(h.Scaled.Offset)
	p.Positive().BucketCounts().FromRaw(h.Scaled.Counts)
	s.exemplars(h, p.Exemplars())
	return p.Attributes()
}

// exemplars points at the spans of some of the durations, as the thread_span processor names them.
func (s *statement) exemplars(h *contention.Histogram, dst pmetric.ExemplarSlice) {
	dst.EnsureCapacity(len(h.Exemplars))
	for i := range h.Exemplars {
		x, e := &h.Exemplars[i], dst.AppendEmpty()
		e.SetTimestamp(stamp(x.At))
		e.SetDoubleValue(x.Duration.Seconds())
		e.SetTraceID(TraceID(s.session, x.Window))
		e.SetSpanID(SpanID(s.session, x.Window, x.Ref))
	}
}
