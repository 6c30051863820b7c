// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"math"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkPingPong also compares the metrics and the page with the program.
func checkPingPong(t spantest.T, r *run) {
	t.Helper()
	var truth spantest.PingPong
	r.know(t, &truth)
	spantest.CheckPingPong(t, r.Output, r.service, truth)
	ball := map[string]string{"weft.lock.class": truth.Lock}
	assert.Equal(t, truth.Handoffs, r.played.total("weft.lock.handoffs", ball).count)
	assert.Equal(t, truth.Handoffs, r.played.total("weft.lock.contentions", ball).count)
	ball["weft.wait.cause"] = "handoff"
	blocked := sum{}
	for _, s := range r.Of(r.service, func(s *spantest.Span) bool {
		return s.Text("weft.state") == "blocked" && s.Text("weft.lock.class") == truth.Lock && s.Text("weft.wait.cause") == "handoff"
	}) { // the last part of each interval, if it spans several windows
		blocked = sum{blocked.count + 1, blocked.time + s.End() - s.Began()}
	}
	assert.Equal(t, sum{truth.Handoffs, blocked.time}, r.played.total("weft.lock.blocked.duration", ball))
}

// checkNotifies also compares the metrics with the program.
func checkNotifies(t spantest.T, r *run) {
	t.Helper()
	var truth spantest.Notifies
	r.know(t, &truth)
	spantest.CheckNotifies(t, r.Output, r.service, truth)
	assert.Equal(t, truth.Notifies, r.played.waits(truth.Bell, "object", "notify"))
	assert.Equal(t, truth.Woken, r.played.waits(truth.Gong, "object", "notify_all"))
}

// checkParks also compares the metrics with the program.
func checkParks(t spantest.T, r *run) {
	t.Helper()
	var truth spantest.Parks
	r.know(t, &truth)
	spantest.CheckParks(t, r.Output, r.service, truth)
	assert.Equal(t, truth.Unparks, r.played.waits(truth.Gate, "park", "unpark"))
}

// waits is the number of waits by what they were for and what ended them.
func (p *played) waits(class, kind, cause string) int {
	return p.total("weft.wait.duration", map[string]string{"weft.lock.class": class, "weft.wait.kind": kind, "weft.wait.cause": cause}).count
}

// total adds up the points of a metric with given attributes. Seconds become nanoseconds.
func (p *played) total(name string, with map[string]string) (of sum) {
	for _, md := range p.metrics.AllMetrics() {
		for _, rm := range md.ResourceMetrics().All() {
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					if m.Name() == name {
						of.addPoints(m, with)
					}
				}
			}
		}
	}
	return of
}

func (s *sum) addPoints(m pmetric.Metric, with map[string]string) {
	nanoseconds := func(seconds float64) int64 { return int64(math.Round(seconds * 1e9)) }
	switch m.Type() {
	case pmetric.MetricTypeSum:
		for _, dp := range m.Sum().DataPoints().All() {
			if matches(dp.Attributes(), with) {
				s.count += int(dp.IntValue())
				s.time += nanoseconds(dp.DoubleValue())
			}
		}
	case pmetric.MetricTypeHistogram:
		for _, dp := range m.Histogram().DataPoints().All() {
			if matches(dp.Attributes(), with) {
				s.count += int(dp.Count())
				s.time += nanoseconds(dp.Sum())
			}
		}
	default:
	}
}

func matches(attrs pcommon.Map, with map[string]string) bool {
	for name, want := range with {
		if spantest.Text(attrs, name) != want {
			return false
		}
	}
	return true
}
