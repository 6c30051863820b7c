// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/engine/contention"
)

// histogram adds a data point of a histogram, unless it is empty.
func (s *statement) histogram(t *metricText, from *contention.Lifetime, h *contention.Histogram) (pcommon.Map, bool) {
	if h == nil || h.Count == 0 {
		return pcommon.Map{}, false
	}
	if s.Bounds == nil {
		p := s.metric(t, from).ExponentialHistogram().DataPoints().AppendEmpty()
		if fillHistogram(s, from, h, p) {
			p.SetZeroCount(h.Scaled.Zero)
			p.SetScale(h.Scaled.Scale)
			p.Positive().SetOffset(h.Scaled.Offset)
			p.Positive().BucketCounts().FromRaw(h.Scaled.Counts)
		}
		return p.Attributes(), true
	}
	p := s.metric(t, from).Histogram().DataPoints().AppendEmpty()
	if fillHistogram(s, from, h, p) {
		p.ExplicitBounds().FromRaw(s.bounds)
		p.BucketCounts().FromRaw(h.Buckets)
	}
	return p.Attributes(), true
}

// histogramPoint is a data point of either kind of histogram.
type histogramPoint interface {
	Attributes() pcommon.Map
	Exemplars() pmetric.ExemplarSlice
	SetStartTimestamp(pcommon.Timestamp)
	SetTimestamp(pcommon.Timestamp)
	SetFlags(pmetric.DataPointFlags)
	SetCount(uint64)
	SetSum(float64)
	SetMin(float64)
	SetMax(float64)
}

// fillHistogram writes what both kinds of histograms have. It returns false for a series that has expired.
func fillHistogram[P histogramPoint](s *statement, from *contention.Lifetime, h *contention.Histogram, p P) bool {
	p.SetStartTimestamp(pcommon.NewTimestampFromTime(from.Start))
	p.SetTimestamp(pcommon.NewTimestampFromTime(s.Now))
	putTrue(p.Attributes(), attrOverflow, from.Overflow)
	if from.Expired {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
		return false
	}
	p.SetCount(h.Count)
	p.SetSum(h.Sum.Seconds())
	p.SetMin(h.Min.Seconds())
	p.SetMax(h.Max.Seconds())
	s.exemplars(h, p.Exemplars())
	return true
}

// exemplars points at the spans of some durations: the application's, or those with the IDs that the thread_span processor gives them.
func (s *statement) exemplars(h *contention.Histogram, dst pmetric.ExemplarSlice) {
	dst.EnsureCapacity(len(h.Exemplars))
	for i := range h.Exemplars {
		x, e := &h.Exemplars[i], dst.AppendEmpty()
		e.SetTimestamp(stamp(x.At + s.shift(x.At)))
		e.SetDoubleValue(x.Duration.Seconds())
		if !x.Request.IsZero() {
			e.SetTraceID(pcommon.TraceID(x.Request.TraceID))
			e.SetSpanID(pcommon.SpanID(x.Request.SpanID))
			continue
		}
		e.SetTraceID(TraceID(s.session, x.Window))
		e.SetSpanID(SpanID(s.session, x.Window, x.Ref))
	}
}
