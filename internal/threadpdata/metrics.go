// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// MetricWriter writes the metrics of an account.
type MetricWriter struct {
	// Delta selects changes since the previous flush instead of cumulative sums.
	Delta bool
	// Bounds are those of explicit histograms; nil selects exponential ones.
	Bounds []time.Duration
}

// Write appends the metrics of a statement, always in the same order.
func (w MetricWriter) Write(st *contention.Statement, e *Emitter, dst pmetric.MetricSlice) {
	s := statement{MetricWriter: w, Emitter: e, Statement: st, dst: dst, index: [numMetrics]int{}}
	for _, d := range w.Bounds {
		s.bounds = append(s.bounds, d.Seconds())
	}
	s.blocked()
	s.waits()
	s.classes()
	s.orders()
	s.states()
	s.totals()
	s.now()
}

// statement is the statement being written.
type statement struct {
	MetricWriter
	*Emitter
	*contention.Statement

	dst    pmetric.MetricSlice
	index  [numMetrics]int // of the metric in dst, plus 1
	bounds []float64
}

// series is the part of contention.Series that data points depend on.
type series struct {
	start             time.Time
	expired, overflow bool
}

func seriesOf[K comparable, V any](s *contention.Series[K, V]) series {
	return series{s.Start, s.Expired, s.Overflow}
}

// metric finds or adds a metric. The data point of an expired series gets a metric of its own: the prometheus exporter removes the series
// and ignores all other data points of that metric.
func (s *statement) metric(id metricID, of series) pmetric.Metric {
	if at := s.index[id]; at > 0 && !of.expired {
		return s.dst.At(at - 1)
	}
	m, t := s.dst.AppendEmpty(), &metricTexts[id]
	if !of.expired {
		s.index[id] = s.dst.Len()
	}
	m.SetName(t.name)
	m.SetUnit(t.unit)
	m.SetDescription(t.description)
	temporality := pmetric.AggregationTemporalityCumulative
	if s.Delta {
		temporality = pmetric.AggregationTemporalityDelta
	}
	switch {
	case t.instrument == gauge:
		m.SetEmptyGauge()
	case t.instrument == counter:
		m.SetEmptySum().SetIsMonotonic(true)
		m.Sum().SetAggregationTemporality(temporality)
	case s.Bounds == nil:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(temporality)
	default:
		m.SetEmptyHistogram().SetAggregationTemporality(temporality)
	}
	return m
}

// point adds a data point of a counter or a gauge.
func (s *statement) point(id metricID, from series) pmetric.NumberDataPoint {
	m := s.metric(id, from)
	var p pmetric.NumberDataPoint
	if metricTexts[id].instrument == gauge {
		p = m.Gauge().DataPoints().AppendEmpty()
	} else {
		p = m.Sum().DataPoints().AppendEmpty()
		p.SetStartTimestamp(pcommon.NewTimestampFromTime(from.start))
	}
	p.SetTimestamp(pcommon.NewTimestampFromTime(s.Now))
	s.mark(from, p.Attributes())
	if from.expired {
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	}
	return p
}

// mark marks the data points of the overflow series.
func (*statement) mark(from series, a pcommon.Map) {
	if from.overflow {
		a.PutBool(attrOverflow, true)
	}
}

// count adds a data point of a counter, unless it is zero.
func (s *statement) count(id metricID, from series, n uint64) (pcommon.Map, bool) {
	if n == 0 {
		return pcommon.Map{}, false
	}
	return s.gauge(id, from, int(n)), true
}

// seconds adds a data point of a counter of time, unless it is zero.
func (s *statement) seconds(id metricID, from series, d time.Duration) (pcommon.Map, bool) {
	if d == 0 {
		return pcommon.Map{}, false
	}
	return s.longest(id, from, d), true
}

// gauge adds a data point with a number.
func (s *statement) gauge(id metricID, from series, n int) pcommon.Map {
	p := s.point(id, from)
	if !from.expired {
		p.SetIntValue(int64(n))
	}
	return p.Attributes()
}

// longest adds a data point with a time.
func (s *statement) longest(id metricID, from series, d time.Duration) pcommon.Map {
	p := s.point(id, from)
	if !from.expired {
		p.SetDoubleValue(d.Seconds())
	}
	return p.Attributes()
}

// blocked writes the waits for locks.
func (s *statement) blocked() {
	for _, w := range s.Blocked {
		from, v := seriesOf(w), &w.Value
		if a, ok := s.count(metricContentions, from, v.Count); ok {
			s.putWait(a, &w.Key)
		}
		if a, ok := s.seconds(metricBlockedTime, from, v.Time); ok {
			s.putWait(a, &w.Key)
		}
		s.durations(metricBlockedDuration, from, w)
	}
}

// waits writes all other waits.
func (s *statement) waits() {
	for _, w := range s.Waits {
		s.durations(metricWaitDuration, seriesOf(w), w)
	}
}

// durations adds a histogram for each cause.
func (s *statement) durations(id metricID, from series, w *contention.Series[contention.WaitKey, contention.Waits]) {
	for cause, h := range w.Value.Durations {
		if a, ok := s.histogram(id, from, h); ok {
			s.putWait(a, &w.Key)
			a.PutStr(attrWaitCause, window.Cause(cause).String())
		}
	}
}

func (s *statement) putWait(a pcommon.Map, k *contention.WaitKey) {
	a.EnsureCapacity(5)
	s.putClass(a, k.Class)
	a.PutStr(attrWaitKind, k.Kind.String())
	if k.Site != contention.NoText {
		a.PutStr(attrFunction, s.Text(k.Site))
	}
	s.putPool(a, k.Pool)
}

func (s *statement) putPool(a pcommon.Map, pool contention.Text) {
	if pool != contention.NoText {
		a.PutStr(attrPool, s.Text(pool))
	}
}

func (s *statement) classes() {
	for _, c := range s.Classes {
		from, v := seriesOf(c), &c.Value
		put := func(a pcommon.Map, ok bool) pcommon.Map {
			if ok {
				s.putClass(a, c.Key)
			}
			return a
		}
		put(s.count(metricHandoffs, from, v.Handoffs))
		put(s.histogram(metricHoldDuration, from, v.Holds))
		for state, d := range v.Held {
			if a, ok := s.seconds(metricHeldTime, from, d); ok {
				put(a, ok).PutStr(attrHolderState, jvmthread.State(state).String())
			}
		}
		for i, n := range [...]uint64{v.Early, v.OtherWoken} {
			if a, ok := s.count(metricLostNotifies, from, n); ok {
				put(a, ok).PutStr(attrLostReason, LostReason(i == 1))
			}
		}
		put(s.seconds(metricPathTime, from, v.Path))
		put(s.seconds(metricSaved, from, v.Saved))
		put(s.seconds(metricBound, from, v.Bound))
		if v.Contended {
			put(s.gauge(metricWaiters, from, v.Waiters), true)
			put(s.gauge(metricChainLength, from, int(v.Chain)), true)
		}
	}
}

// putClass names a class, if there is one.
func (s *statement) putClass(a pcommon.Map, id jvmthread.ClassID) {
	if id != jvmthread.NoClass {
		a.PutStr(attrLockClass, s.sym.Class(id))
	}
}

func (s *statement) orders() {
	for _, o := range s.Orders {
		if a, ok := s.count(metricOrderHints, seriesOf(o), o.Value); ok {
			if !o.Overflow {
				a.PutStr(attrOrderFirst, s.sym.Class(o.Key.First))
				a.PutStr(attrOrderSecond, s.sym.Class(o.Key.Second))
			}
		}
	}
}

func (s *statement) states() {
	for _, p := range s.States {
		for state, d := range p.Value {
			if a, ok := s.seconds(metricThreadTime, seriesOf(p), d); ok {
				a.PutStr(attrState, jvmthread.State(state).String())
				s.putPool(a, p.Key)
			}
		}
	}
}

// totals are written even if they are zero: without a first data point, a backend cannot compute a rate.
func (s *statement) totals() {
	t := s.Totals
	from, v := seriesOf(t), &t.Value
	if s.Delta && !t.Changed() {
		return
	}
	s.point(metricDeadlocks, from).SetIntValue(int64(v.Deadlocks))
	s.point(metricEvents, from).SetIntValue(int64(v.Events))
	s.point(metricEventsLost, from).SetIntValue(int64(v.Lost))
	s.point(metricEventsMissed, from).SetIntValue(int64(v.Missed))
	s.point(metricPathLength, from).SetDoubleValue(v.Path.Seconds())
}

// now writes the current state of the threads. It includes zeros for the states in which a thread can be stuck, so that alerts resolve.
func (s *statement) now() {
	t := s.Threads
	for state := range t.Threads {
		st := jvmthread.State(state)
		if t.Threads[state] > 0 || s.Seen(st) {
			s.gauge(metricThreadCount, series{}, t.Threads[state]).PutStr(attrState, st.String())
		}
		switch st {
		case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateParked, jvmthread.StateDeadlocked:
			s.gauge(metricThreadStuck, series{}, t.Stuck[state]).PutStr(attrState, st.String())
		}
	}
	s.gauge(metricDeadlockedThreads, series{}, t.Deadlocked)
	for _, b := range s.BlockedNow {
		from := seriesOf(b)
		for _, a := range []pcommon.Map{
			s.gauge(metricBlockedThreads, from, b.Value.Threads), s.longest(metricBlockedLongest, from, b.Value.Longest),
		} {
			s.putClass(a, b.Key.Class)
			a.PutStr(attrWaitKind, b.Key.Kind.String())
		}
	}
	for _, h := range s.HeldNow {
		a := s.longest(metricHeldLongest, seriesOf(h), h.Value)
		s.putClass(a, h.Key.Class)
		a.PutStr(attrHolderState, h.Key.Holder.String())
	}
}
