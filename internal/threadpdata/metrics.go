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
	s := statement{MetricWriter: w, Emitter: e, Statement: st, dst: dst, index: make([]int, len(metricTexts))}
	for _, d := range w.Bounds {
		s.bounds = append(s.bounds, d.Seconds())
	}
	s.waits()
	s.pinned()
	s.requests()
	s.classes()
	s.orders()
	s.states()
	s.totals()
	s.now()
	s.carriers()
}

// statement is the statement being written.
type statement struct {
	MetricWriter
	*Emitter
	*contention.Statement

	dst    pmetric.MetricSlice
	index  []int // of each metric in dst, plus 1
	bounds []float64
}

// metric finds or adds a metric. The data point of an expired series gets a metric of its own: the prometheus exporter removes the series
// and ignores all other data points of that metric.
func (s *statement) metric(t *metricText, of *contention.Lifetime) pmetric.Metric {
	if at := s.index[t.id]; at > 0 && !of.Expired {
		return s.dst.At(at - 1)
	}
	m := s.dst.AppendEmpty()
	if !of.Expired {
		s.index[t.id] = s.dst.Len()
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

// put adds a data point of a counter or a gauge. Times are in nanoseconds.
func (s *statement) put(t *metricText, from *contention.Lifetime, n int64) pcommon.Map {
	m := s.metric(t, from)
	var p pmetric.NumberDataPoint
	if t.instrument == gauge {
		p = m.Gauge().DataPoints().AppendEmpty()
	} else {
		p = m.Sum().DataPoints().AppendEmpty()
		p.SetStartTimestamp(pcommon.NewTimestampFromTime(from.Start))
	}
	p.SetTimestamp(pcommon.NewTimestampFromTime(s.Now))
	putTrue(p.Attributes(), attrOverflow, from.Overflow)
	switch {
	case from.Expired:
		p.SetFlags(pmetric.DefaultDataPointFlags.WithNoRecordedValue(true))
	case t.unit == seconds:
		p.SetDoubleValue(time.Duration(n).Seconds())
	default:
		p.SetIntValue(n)
	}
	return p.Attributes()
}

// count adds a data point of a counter, unless it is zero.
func (s *statement) count(t *metricText, from *contention.Lifetime, n int64) (pcommon.Map, bool) {
	if n == 0 {
		return pcommon.Map{}, false
	}
	return s.put(t, from, n), true
}

// waits writes the waits for locks, then all other waits. Each is in one histogram.
func (s *statement) waits() {
	for _, w := range s.Blocked {
		from, v := &w.Lifetime, &w.Value
		if a, ok := s.count(metricContentions, from, int64(v.Count)); ok {
			s.putWait(a, &w.Key)
		}
		if a, ok := s.count(metricBlockedTime, from, int64(v.Time)); ok {
			s.putWait(a, &w.Key)
		}
		s.durations(metricBlockedDuration, from, w)
	}
	for _, w := range s.Waits {
		if w.Key.Kind != jvmthread.WaitCarrier {
			s.durations(metricWaitDuration, &w.Lifetime, w)
		}
	}
	for _, w := range s.Waits {
		if w.Key.Kind == jvmthread.WaitCarrier {
			s.queued(w)
		}
	}
}

// durations adds a histogram for each cause.
func (s *statement) durations(t *metricText, from *contention.Lifetime, w *contention.Series[contention.WaitKey, contention.Waits]) {
	for cause, h := range w.Value.Durations {
		if a, ok := s.histogram(t, from, h); ok {
			s.putWait(a, &w.Key)
			a.PutStr(attrWaitCause, window.Cause(cause).String())
		}
	}
}

func (s *statement) putWait(a pcommon.Map, k *contention.WaitKey) {
	a.EnsureCapacity(5)
	s.putClass(a, k.Class)
	a.PutStr(attrWaitKind, k.Kind.String())
	putText(a, attrFunction, s.Text(k.Site))
	putText(a, attrPool, s.Text(k.Pool))
}

// requests writes for how long requests waited, by their names.
func (s *statement) requests() {
	for _, r := range s.Requests {
		if a, ok := s.histogram(metricRequestWait, &r.Lifetime, r.Value.Waited); ok {
			if r.Key.Name != jvmthread.NoClass {
				a.PutStr(attrRequestName, s.className(r.Key.Name))
			}
			a.PutStr(attrWaitKind, r.Key.Kind.String())
		}
	}
}

func (s *statement) classes() {
	for _, c := range s.Classes {
		from, v := &c.Lifetime, &c.Value
		put := func(a pcommon.Map, ok bool) pcommon.Map {
			if ok {
				s.putClass(a, c.Key)
			}
			return a
		}
		put(s.count(metricHandoffs, from, int64(v.Handoffs)))
		put(s.histogram(metricHoldDuration, from, v.Holds))
		for state, d := range v.Held {
			if a, ok := s.count(metricHeldTime, from, int64(d)); ok {
				put(a, ok).PutStr(attrHolderState, jvmthread.State(state).String())
			}
		}
		put(s.count(metricLostNotifies, from, int64(v.LostNotifies)))
		put(s.count(metricPathTime, from, int64(v.Path)))
		put(s.count(metricSaved, from, int64(v.Saved)))
		put(s.count(metricBound, from, int64(v.Bound)))
		if v.Contended {
			put(s.put(metricWaiters, from, int64(v.Waiters)), true)
			put(s.put(metricChainLength, from, int64(v.Chain)), true)
		}
	}
}

func (s *statement) orders() {
	for _, o := range s.Orders {
		if a, ok := s.count(metricOrderHints, &o.Lifetime, int64(o.Value)); ok && !o.Overflow {
			a.PutStr(attrOrderFirst, s.className(o.Key.First))
			a.PutStr(attrOrderSecond, s.className(o.Key.Second))
		}
	}
}

func (s *statement) states() {
	for _, p := range s.States {
		for state, d := range p.Value {
			if a, ok := s.count(metricThreadTime, &p.Lifetime, int64(d)); ok {
				a.PutStr(attrState, jvmthread.State(state).String())
				putText(a, attrPool, s.Text(p.Key))
			}
		}
	}
}

// totals are written even if they are zero: without a first data point, a backend cannot compute a rate.
func (s *statement) totals() {
	t := s.Totals
	from, v := &t.Lifetime, &t.Value
	if s.Delta && !t.Changed() {
		return
	}
	s.put(metricDeadlocks, from, int64(v.Deadlocks))
	s.put(metricEvents, from, int64(v.Events))
	s.put(metricEventsLost, from, int64(v.Lost))
	s.put(metricEventsMissed, from, int64(v.Missed))
	s.put(metricPathLength, from, int64(v.Path))
}

// now writes the current state of the threads. It includes zeros for the states in which a thread can be stuck, so that alerts resolve.
func (s *statement) now() {
	t, always := &s.Threads, new(contention.Lifetime)
	for state := range t.Threads {
		st := jvmthread.State(state)
		if t.Threads[state] > 0 || s.Seen[st] {
			s.put(metricThreadCount, always, int64(t.Threads[state])).PutStr(attrState, st.String())
		}
		switch st {
		case jvmthread.StateBlocked, jvmthread.StateReentering, jvmthread.StateParked, jvmthread.StateDeadlocked:
			s.put(metricThreadStuck, always, int64(t.Stuck[state])).PutStr(attrState, st.String())
		}
	}
	s.put(metricDeadlockedThreads, always, int64(t.Deadlocked))
	for _, b := range s.BlockedNow {
		from := &b.Lifetime
		for _, a := range []pcommon.Map{
			s.put(metricBlockedThreads, from, int64(b.Value.Threads)), s.put(metricBlockedLongest, from, int64(b.Value.Longest)),
		} {
			s.putClass(a, b.Key.Class)
			a.PutStr(attrWaitKind, b.Key.Kind.String())
		}
	}
	for _, h := range s.HeldNow {
		a := s.put(metricHeldLongest, &h.Lifetime, int64(h.Value))
		s.putClass(a, h.Key.Class)
		a.PutStr(attrHolderState, h.Key.Holder.String())
	}
}
