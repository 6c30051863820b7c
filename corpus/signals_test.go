// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weft-otel/weft/corpus/spantest"
)

// sum is a number of intervals, and their time.
type sum struct {
	count int
	time  int64
}

// sums are sums by name.
type sums map[string]sum

func (s sums) add(name string, time int64) {
	was := s[name]
	s[name] = sum{was.count + 1, was.time + time}
}

func (s sums) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s: %d, %v\n", name, s[name].count, time.Duration(s[name].time))
	}
	return b.String()
}

// addSpans adds what the spans say: sums by thread and kind of wait, the path, the locks, and a hash of all that is in them.
func (p *played) addSpans(out *text) {
	o := p.output()
	waits, path, locks := sums{}, sums{}, &strings.Builder{}
	for _, s := range o.Spans {
		length := s.Number("weft.interval.time")
		switch {
		case s.IsState():
			kind := cmp.Or(s.Text("weft.wait.kind"), "-")
			waits.add(s.Text("thread.name")+" | "+s.Text("weft.state")+" | "+kind+" | "+cmp.Or(s.Text("weft.wait.cause"), "-"), length)
		case s.Has("weft.critical_path.kind"):
			path.add(s.Text("weft.critical_path.thread.name")+" | "+s.Text("weft.critical_path.kind"), length)
		case s.IsRoot():
			for _, event := range s.Events().All() {
				fmt.Fprintf(locks, "%s %s\n", event.Name(), attributes(event.Attributes()))
			}
		}
	}
	out.add("spans: intervals by thread, state, kind and cause", waits.String())
	out.add("spans: critical path by thread and kind", path.String())
	out.add("spans: events of the roots", locks.String())
	lines := spanLines(o)
	out.add("spans", fmt.Sprintf("%d of windows, %d of incidents\nSHA-256 %x\n", len(o.Spans), len(o.Incidents), sha256.Sum256([]byte(strings.Join(lines, "\n")))))
}

// spanLines returns a line for each span, with all that it contains, in the order of the lines.
func spanLines(o *spantest.Output) (lines []string) {
	for _, s := range slices.Concat(o.Spans, o.Incidents) {
		var line strings.Builder
		fmt.Fprint(&line, s.TraceID(), s.SpanID(), s.ParentSpanID(), " ", s.Name(), s.StartTimestamp(), s.EndTimestamp(), s.Kind(), s.Status().Code(),
			s.Status().Message(), attributes(s.Attributes()), attributes(s.Resource))
		for _, l := range s.Links().All() {
			fmt.Fprint(&line, " -> ", l.TraceID(), l.SpanID(), attributes(l.Attributes()))
		}
		for _, event := range s.Events().All() {
			fmt.Fprint(&line, " at ", event.Timestamp(), event.Name(), attributes(event.Attributes()))
		}
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return lines
}

// attributes prints attributes, sorted by name.
func attributes(attrs pcommon.Map) string {
	body, err := json.Marshal(attrs.AsRaw())
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// allMetrics are the metrics that the connector sent.
func (p *played) allMetrics() iter.Seq[pmetric.Metric] {
	return func(yield func(pmetric.Metric) bool) {
		for _, md := range p.metrics.AllMetrics() {
			for _, rm := range md.ResourceMetrics().All() {
				for _, sm := range rm.ScopeMetrics().All() {
					for _, m := range sm.Metrics().All() {
						if !yield(m) {
							return
						}
					}
				}
			}
		}
	}
}

// metricLines are the points that the connector sent, without times.
func (p *played) metricLines() string {
	var lines []string
	for m := range p.allMetrics() {
		lines = append(lines, pointLines(m)...)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func pointLines(m pmetric.Metric) (lines []string) {
	add := func(attrs pcommon.Map, format string, args ...any) {
		lines = append(lines, m.Name()+attributes(attrs)+" "+fmt.Sprintf(format, args...))
	}
	number := func(points pmetric.NumberDataPointSlice) {
		for _, dp := range points.All() {
			add(dp.Attributes(), "%v", map[bool]any{true: dp.IntValue(), false: dp.DoubleValue()}[dp.ValueType() == pmetric.NumberDataPointValueTypeInt])
		}
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		number(m.Gauge().DataPoints())
	case pmetric.MetricTypeSum:
		number(m.Sum().DataPoints())
	case pmetric.MetricTypeHistogram:
		for _, dp := range m.Histogram().DataPoints().All() {
			add(dp.Attributes(), "count %d, sum %v, min %v, max %v, buckets %v, exemplars %s", dp.Count(), dp.Sum(), dp.Min(), dp.Max(),
				dp.BucketCounts().AsRaw(), exemplars(dp.Exemplars()))
		}
	default:
		lines = append(lines, m.Name()+" "+m.Type().String())
	}
	return lines
}

func exemplars(all pmetric.ExemplarSlice) string {
	var list []string
	for _, e := range all.All() {
		list = append(list, fmt.Sprintf("%v at %d of %s", e.DoubleValue(), e.Timestamp(), e.SpanID()))
	}
	slices.Sort(list)
	return "[" + strings.Join(list, ", ") + "]"
}

// logLines are the records that the connector sent.
func (p *played) logLines() string {
	var lines []string
	for _, ld := range p.logs.AllLogs() {
		for _, rl := range ld.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					lines = append(lines, fmt.Sprintf("%d %s %s %s", lr.Timestamp(), lr.SeverityText(), lr.Body().AsString(), attributes(lr.Attributes())))
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// counterLines are the counters of the components: of anomalies, of what was lost, dropped or unknown, and of what was done.
func (p *played) counterLines() (string, error) {
	var all metricdata.ResourceMetrics
	if err := p.counts.Reader.Collect(context.Background(), &all); err != nil {
		return "", err
	}
	var lines []string
	for _, scope := range all.ScopeMetrics {
		if !strings.HasPrefix(scope.Scope.Name, "github.com/weft-otel/") {
			continue // of the collector's helpers
		}
		for _, m := range scope.Metrics {
			counter, ok := m.Data.(metricdata.Sum[int64])
			if !ok || !counter.IsMonotonic {
				continue
			}
			for _, point := range counter.DataPoints {
				lines = append(lines, fmt.Sprintf("%s{%s} %d", m.Name, point.Attributes.Encoded(attribute.DefaultEncoder()), point.Value))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}
