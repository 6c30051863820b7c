// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/golang/snappy"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/weft-otel/weft/corpus/spantest"
)

// figures are the latest values by their Prometheus name, summed over labels.
type figures map[string]float64

// TestMetricExporters sends the metrics of a JVM through the three standard exporters at once and compares each with the spans.
func TestMetricExporters(t *testing.T) {
	s := &store{otlp: make(map[string]float64), written: make(map[string]float64)}
	server := httptest.NewServer(s)
	defer server.Close()
	prometheus := freeAddress(t)
	c := startCollector(t, setup{
		more: []string{filepath.Join(root, "e2e/testdata/metric-exporters.yaml")}, engine: []string{"max_spans_per_window: 0"},
		env: []string{"WEFT_PROMETHEUS=" + prometheus, "WEFT_STORE=" + server.URL},
	})
	var truth struct {
		Threads []counters `json:"threads"`
	}
	runJava(t, jdks[0], c.endpoint, "counters", &truth, "Counters", "20")
	c.waitForCut(t, "counters", "end")
	o := c.spans(t)
	want := figures{}
	for _, th := range o.Of("counters", func(s *span) bool { _, ok := s.Attributes().Get("jvm.thread.daemon"); return ok }) {
		want["weft_lock_contentions_total"] += float64(th.Number("weft.count.blocked"))
		want["weft_lock_blocked_time_seconds_total"] += float64(th.Number("weft.time.blocked")) / 1e9
		want["weft_lock_blocked_duration_seconds_count"] += float64(th.Number("weft.count.blocked"))
	}
	want["weft_deadlocked_threads"] = 0
	require.NotZero(t, want["weft_lock_contentions_total"], "the values to compare must not be zero")
	for name, told := range map[string]func() figures{
		"prometheus":            func() figures { return scrape(t, prometheus) },
		"prometheusremotewrite": func() figures { return s.figures(s.written) },
		"otlp_http":             func() figures { return s.figures(s.otlp) },
	} {
		poll(t, fmt.Sprintf("%s has %v", name, want), func() bool { // they may arrive in parts
			got := told()
			for metric, value := range want {
				if is, there := got[metric]; !there || math.Abs(is-value) > 1e-6 {
					return false
				}
			}
			return true
		})
	}
	c.terminate(t)
	spantest.CheckNothingLost(t, o)
}

var sample = regexp.MustCompile(`^(weft_[a-z_]+)(\{[^}]*\})? (\S+)`)

// scrape reads the metrics of the Prometheus exporter.
func scrape(t *testing.T, address string) figures {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	out := figures{}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		m := sample.FindStringSubmatch(lines.Text())
		if m == nil || strings.Contains(m[2], `weft_wait_kind="park"`) {
			continue
		}
		v, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err)
		out[m[1]] += v
	}
	return out
}

// store is a metrics backend: it accepts OTLP and remote write.
type store struct {
	mu            sync.Mutex
	otlp, written map[string]float64 // the newest value of each series
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.URL.Path == "/v1/metrics" {
			err = s.takeOTLP(body)
		} else {
			err = s.takeWrite(body)
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// figures returns the sums of the series of each name.
func (s *store) figures(series map[string]float64) figures {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := figures{}
	for key, v := range maps.Clone(series) {
		name, _, _ := strings.Cut(key, "{")
		out[name] += v
	}
	return out
}

// takeOTLP stores the metrics under test by their Prometheus names.
func (s *store) takeOTLP(body []byte) error {
	request := pmetricotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		return err
	}
	for _, rm := range request.Metrics().ResourceMetrics().All() {
		for _, m := range rm.ScopeMetrics().At(0).Metrics().All() {
			name := strings.ReplaceAll(m.Name(), ".", "_")
			switch m.Type() {
			case pmetric.MetricTypeSum:
				if m.Unit() == "s" {
					name += "_seconds"
				}
				s.numbers(name+"_total", m.Sum().DataPoints())
			case pmetric.MetricTypeGauge:
				s.numbers(name, m.Gauge().DataPoints())
			case pmetric.MetricTypeHistogram:
				for _, p := range m.Histogram().DataPoints().All() {
					if kind, ok := p.Attributes().Get("weft.wait.kind"); !ok || kind.AsString() != "park" {
						s.otlp[fmt.Sprint(name, "_seconds_count{", p.Attributes().AsRaw())] = float64(p.Count())
					}
				}
			case pmetric.MetricTypeEmpty, pmetric.MetricTypeExponentialHistogram, pmetric.MetricTypeSummary:
			}
		}
	}
	return nil
}

func (s *store) numbers(name string, points pmetric.NumberDataPointSlice) {
	for _, p := range points.All() {
		if kind, ok := p.Attributes().Get("weft.wait.kind"); !ok || kind.AsString() != "park" {
			s.otlp[fmt.Sprint(name, "{", p.Attributes().AsRaw())] = p.DoubleValue() + float64(p.IntValue())
		}
	}
}

// takeWrite reads a remote write request, whose format is that of https://prometheus.io/docs/specs/prw/remote_write_spec: series in field 1, of
// which labels are in field 1 and samples in field 2.
func (s *store) takeWrite(body []byte) error {
	raw, err := snappy.Decode(nil, body)
	if err != nil {
		return err
	}
	return fields(raw, func(number protowire.Number, series []byte) error {
		if number != 1 {
			return nil // metadata
		}
		name, labels, value := "", "", math.NaN()
		err := fields(series, func(number protowire.Number, part []byte) error {
			const labelField, sampleField = 1, 2
			if number == labelField {
				var pair [3]string
				if err := fields(part, func(n protowire.Number, text []byte) error { pair[min(n, 2)] = string(text); return nil }); err != nil {
					return err
				}
				if labels += pair[1] + "=" + pair[2] + ","; pair[1] == "__name__" {
					name = pair[2]
				}
			}
			if number == sampleField {
				value = 0 // omitted in the encoding
				if number, _, n := protowire.ConsumeTag(part); number == 1 && n > 0 {
					bits, _ := protowire.ConsumeFixed64(part[n:])
					value = math.Float64frombits(bits)
				}
			}
			return nil
		})
		if !strings.Contains(labels, "weft_wait_kind=park") && !math.IsNaN(value) {
			s.written[name+"{"+labels] = value
		}
		return err
	})
}

// fields calls take for each length-delimited field of a message.
func fields(message []byte, take func(protowire.Number, []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, message); n < 0 {
				return protowire.ParseError(n)
			}
			message = message[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := take(number, value); err != nil {
			return err
		}
	}
	return nil
}
