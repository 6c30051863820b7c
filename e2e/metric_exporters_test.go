// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"

	"github.com/weft-otel/weft/corpus/spantest"
)

// TestMetricExporters sends the metrics of a JVM through the three standard exporters at once and compares each with the spans: a real
// Prometheus scrapes one and gets the samples of another.
func TestMetricExporters(t *testing.T) {
	b := &otlpBackend{series: make(map[string]float64)}
	server := httptest.NewServer(b)
	defer server.Close()
	scraped := freeAddress(t)
	p := startPrometheus(t, scraped)
	c := startCollector(t, setup{
		more: []string{filepath.Join(root, "e2e/testdata/metric-exporters.yaml")}, engine: []string{"max_spans_per_window: 0"},
		env: []string{"WEFT_PROMETHEUS=" + scraped, "WEFT_WRITE=http://" + p.address, "WEFT_STORE=" + server.URL},
	})
	var truth struct {
		Threads []counters `json:"threads"`
	}
	runJava(t, jdks[0], c.endpoint, "counters", &truth, "Counters", "20")
	c.waitForCut(t, "counters", "end")
	o := c.spans(t)
	want := map[string]float64{"weft_deadlocked_threads": 0}
	for _, th := range o.Of("counters", func(s *span) bool { _, ok := s.Attributes().Get("jvm.thread.daemon"); return ok }) {
		want["weft_lock_contentions_total"] += float64(th.Number("weft.count.blocked"))
		want["weft_lock_blocked_time_seconds_total"] += float64(th.Number("weft.time.blocked")) / 1e9
		want["weft_lock_blocked_duration_seconds_count"] += float64(th.Number("weft.count.blocked"))
	}
	require.NotZero(t, want["weft_lock_contentions_total"], "the values to compare must not be zero")
	inPrometheus := func(way string) func(string) (float64, bool) {
		return func(name string) (float64, bool) {
			return p.value(t, fmt.Sprintf(`sum(%s{job="counters",weft_wait_kind!="park",way=%q})`, name, way))
		}
	}
	for exporter, valueOf := range map[string]func(name string) (float64, bool){
		"prometheus": inPrometheus(""), "prometheusremotewrite": inPrometheus("remote write"), "otlp_http": b.value,
	} {
		for name, value := range want {
			poll(t, fmt.Sprintf("%s: %s is %v", exporter, name, value), func() bool { // values may arrive in parts
				got, ok := valueOf(name)
				return ok && math.Abs(got-value) <= 1e-6
			})
		}
	}
	c.terminate(t)
	spantest.CheckNothingLost(t, o)
}

// otlpBackend stores the metrics that it is sent.
type otlpBackend struct {
	mu     sync.Mutex
	series map[string]float64 // the newest value of each, by its Prometheus name with attributes
}

func (b *otlpBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := pmetricotlp.NewExportRequest()
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = request.UnmarshalProto(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rm := range request.Metrics().ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			b.put(m)
		}
	}
}

func (b *otlpBackend) put(m pmetric.Metric) {
	name := strings.ReplaceAll(m.Name(), ".", "_")
	if m.Unit() == "s" {
		name += "_seconds"
	}
	put := func(suffix string, attributes pcommon.Map, value float64) {
		if kind, ok := attributes.Get("weft.wait.kind"); !ok || kind.AsString() != "park" {
			b.series[fmt.Sprint(name, suffix, "{", attributes.AsRaw())] = value
		}
	}
	switch m.Type() {
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			put("_total", p.Attributes(), p.DoubleValue()+float64(p.IntValue()))
		}
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			put("", p.Attributes(), p.DoubleValue()+float64(p.IntValue()))
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			put("_count", p.Attributes(), float64(p.Count()))
		}
	case pmetric.MetricTypeEmpty, pmetric.MetricTypeExponentialHistogram, pmetric.MetricTypeSummary:
	}
}

// value returns the sum of the series of a name.
func (b *otlpBackend) value(name string) (sum float64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, v := range b.series {
		if of, _, _ := strings.Cut(key, "{"); of == name {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}
