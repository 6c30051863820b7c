// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Aggregate adds the sums of an agent in aggregated mode: waits that ended, without interactions. Counts, sums and maxima are exact.
// Durations are known only to the bucket and are added as its upper bound.
func (a *Account) Aggregate(agg *jvmthread.Aggregate) {
	for i := range agg.Series {
		a.series(&agg.Series[i], agg.Scale)
	}
	a.totals.dirty = true
}

func (a *Account) series(s *jvmthread.Series, scale int32) {
	iv := jvmthread.Interval{State: s.Kind.State(), Lock: jvmthread.LockID{Class: s.Class}, Stack: s.Stack}
	k, n := a.rules.Wait(&iv), s.Count()
	if k == jvmthread.WaitNone || n == 0 {
		return
	}
	plus(&a.states.get(NoText).Value[iv.State], time.Duration(s.Sum))
	t := a.of(k)
	key := a.key(&iv, k, NoText)
	var sum *Series[WaitKey, Waits]
	if s.Overflow {
		sum = t.spill(key)
	} else {
		sum = t.get(key)
	}
	sum.Value.Count += min(n, math.MaxInt64-sum.Value.Count)
	plus(&sum.Value.Time, time.Duration(s.Sum))
	cause := window.CauseUnknown
	if k == jvmthread.WaitSleep || k == jvmthread.WaitReenter {
		cause = window.CauseNone
	}
	a.durations(sum, cause).merge(s, scale, a.cfg)
}

// merge adds the waits of a series.
func (h *Histogram) merge(s *jvmthread.Series, scale int32, cfg *Config) {
	least := time.Duration(0)
	if s.Zero == 0 {
		least = bound(s, 0, scale)
	}
	if h.Count == 0 || least < h.Min {
		h.Min = least
	}
	h.Max = max(h.Max, time.Duration(s.Max))
	plus(&h.Sum, time.Duration(s.Sum))
	if s.Zero > 0 {
		h.count(0, s.Zero, cfg)
	}
	for i, n := range s.Buckets {
		if n > 0 {
			h.count(min(bound(s, i+1, scale), time.Duration(s.Max)), n, cfg)
		}
	}
}

// bound returns the lower bound of bucket i, which is the upper bound of the previous one.
func bound(s *jvmthread.Series, i int, scale int32) time.Duration {
	ns := math.Exp2(math.Ldexp(float64(s.Offset)+float64(i), -int(scale)))
	if !(ns < math.MaxInt64) {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
