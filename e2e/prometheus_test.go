// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// watched is config/metrics.yaml with a Prometheus that scrapes it, and a sink in place of Jaeger.
type watched struct {
	*collector
	sink       sink
	prometheus *prometheus
}

func startWatched(t *testing.T, more ...string) watched {
	t.Helper()
	w := watched{sink: startSink(t)}
	metrics := freeAddress(t)
	more = append(more, patientOTLP, "yaml:exporters::prometheus::metric_expiration: 4h") // also of JVMs that have ended
	w.collector = startCollector(t, setup{config: "metrics.yaml", more: more, env: []string{
		"WEFT_FLUSH=500ms", "WEFT_PROMETHEUS=" + metrics, "JAEGER_ENDPOINT=" + w.sink.grpc,
	}})
	w.prometheus = startPrometheus(t, metrics)
	return w
}

// is waits until a query returns a number.
func (w watched) is(t *testing.T, want float64, promql string) {
	t.Helper()
	poll(t, promql+" is "+strconv.FormatFloat(want, 'g', -1, 64), func() bool {
		got, ok := w.prometheus.value(t, promql)
		if ok && got > want {
			t.Fatalf("%s is %v, more than %v", promql, got, want)
		}
		return ok && got == want
	})
}

// TestPrometheusCountsMatchThePrograms checks that a real Prometheus has the exact counts of a program, from the first scrape on. Package corpus
// compares what the connector sends with programs and spans.
func TestPrometheusCountsMatchThePrograms(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		w := startWatched(t)
		var truth spantest.PingPong
		runJava(t, j, w.endpoint, "pingpong", &truth, "PingPong", "200")
		const ball = `{job="pingpong",weft_lock_class="PingPong$Ball"}`
		w.is(t, float64(truth.Handoffs), `sum(weft_lock_handoffs_total`+ball+`)`)
		w.is(t, float64(truth.Handoffs), `sum(weft_lock_contentions_total`+ball+`)`)
		w.is(t, float64(truth.Handoffs), `sum(weft_lock_blocked_duration_seconds_count`+ball+`)`)
		w.is(t, 0, `sum(weft_events_lost_total)+sum(weft_events_missed_total)`)
		assert.InDelta(t, w.prometheus.number(t, "sum(weft_lock_blocked_time_seconds_total"+ball+")"),
			w.prometheus.number(t, "sum(weft_lock_blocked_duration_seconds_sum"+ball+")"), 1e-9)
	})
}

// TestExemplarsReferToSpans queries exemplars from Prometheus and looks up their spans.
func TestExemplarsReferToSpans(t *testing.T) {
	w := startWatched(t)
	var truth spantest.PingPong
	runJava(t, jdks[0], w.endpoint, "pingpong", &truth, "PingPong", "200")
	w.is(t, float64(truth.Handoffs), `sum(weft_lock_handoffs_total{job="pingpong",weft_lock_class="PingPong$Ball"})`)
	var answer struct {
		Data []struct {
			Exemplars []struct {
				Labels map[string]string `json:"labels"`
				Value  string            `json:"value"`
			} `json:"exemplars"`
		} `json:"data"`
	}
	w.prometheus.get(t, "/api/v1/query_exemplars", url.Values{
		"query": {`weft_lock_blocked_duration_seconds_bucket{job="pingpong"}`},
		"start": {strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Add(time.Minute).Unix(), 10)},
	}, &answer)
	w.sink.waitForCut(t, "pingpong", "end")
	w.terminate(t)
	w.sink.terminate(t)
	known := map[string]*span{}
	for _, s := range w.sink.spans(t).Spans {
		known[s.TraceID().String()+"/"+s.SpanID().String()] = s
	}
	count := 0
	for _, series := range answer.Data {
		for _, exemplar := range series.Exemplars {
			count++
			s := known[exemplar.Labels["trace_id"]+"/"+exemplar.Labels["span_id"]]
			require.NotNil(t, s, "span of %v is not in the trace store", exemplar)
			if s.IsState() {
				value, err := strconv.ParseFloat(exemplar.Value, 64)
				require.NoError(t, err)
				assert.InDelta(t, float64(s.End()-s.Began())/1e9, value, 1e-9, "duration of the interval, of which the span is the last part")
			}
		}
	}
	assert.Positive(t, count, "exemplars arrive")
}

// TestNativeHistograms uses exponential histograms, which become native ones in Prometheus.
func TestNativeHistograms(t *testing.T) {
	w := startWatched(t, "yaml:connectors::contention::histogram::exponential::max_size: 160")
	var truth spantest.PingPong
	runJava(t, jdks[0], w.endpoint, "pingpong", &truth, "PingPong", "200")
	const series = `sum(weft_lock_blocked_duration_seconds{job="pingpong",weft_lock_class="PingPong$Ball"})`
	w.is(t, float64(truth.Handoffs), "histogram_count("+series+")")
	p99 := w.prometheus.number(t, "histogram_quantile(0.99, "+series+")")
	sum := w.prometheus.number(t, "histogram_sum("+series+")")
	assert.Positive(t, p99)
	assert.GreaterOrEqual(t, sum, p99, "the sum includes the longest wait")

	java(t, jdks[0], w.endpoint, "idle", "Idle") // ends with the test
	poll(t, "rules and dashboards have a percentile", func() bool {
		ruled, _ := w.prometheus.value(t, `job_lock:weft_blocked_duration_seconds:p99_5m{job="idle",weft_lock_class="Idle$Ball"}`)
		return ruled > 0
	})
}

// TestDeadlockAlertIsDelivered checks that Alertmanager delivers a deadlock and resolves it after the process has ended.
func TestDeadlockAlertIsDelivered(t *testing.T) {
	w := startWatched(t)
	jvm := java(t, jdks[len(jdks)-1], w.endpoint, "stuck", "Deadlock")
	poll(t, "the threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
	shown := time.Now()
	labels := map[string]string{"job": "stuck"}
	var firing alert
	poll(t, "the alert is delivered", func() (found bool) {
		firing, found = w.prometheus.alerts.find("WeftDeadlock", "firing", labels)
		return found
	})
	assert.Contains(t, firing.Annotations["summary"], "stuck: 2 threads are deadlocked")
	assert.NotContains(t, firing.Annotations["description"]+firing.Annotations["dashboard"], "<no value>")

	// The rule has no "for" clause: it fires at the first evaluation after the scrape (see TestRules), soon on an idle machine.
	first := w.prometheus.firstAbove(t, `weft_deadlocked_threads{job="stuck"}`, shown.Add(-time.Hour))
	assert.False(t, firing.StartsAt.Before(first), "fires at %v, before the scrape at %v", firing.StartsAt, first)
	t.Logf("delivered %v after the deadlock was detected, %v after the scrape; the rule fired %v after it",
		firing.at.Sub(shown), firing.at.Sub(first), firing.StartsAt.Sub(first))

	require.NoError(t, jvm.cmd.Process.Kill())
	poll(t, "the alert is resolved", func() bool {
		_, found := w.prometheus.alerts.find("WeftDeadlock", "resolved", labels)
		return found
	})
	poll(t, "the log record of the deadlock is written", func() bool {
		return strings.Contains(strings.Join(append(w.outLines(), w.errLines()...), "\n"), "weft.deadlock.end")
	})
}

// firstAbove returns the time of the first sample above zero.
func (p *prometheus) firstAbove(t *testing.T, promql string, since time.Time) time.Time {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Values [][2]any `json:"values"`
			} `json:"result"`
		} `json:"data"`
	}
	p.get(t, "/api/v1/query", url.Values{"query": {promql + "[" + strconv.Itoa(int(time.Since(since).Seconds())) + "s]"}}, &answer)
	for _, result := range answer.Data.Result {
		for _, value := range result.Values {
			if at, ok := value[0].(float64); ok && value[1] != "0" {
				return time.UnixMilli(int64(at * 1000))
			}
		}
	}
	t.Fatalf("%s was never above zero", promql)
	return time.Time{}
}

// TestEveryQueryIsValid sends each query of the documentation and of the dashboards to Prometheus while a program contends.
func TestEveryQueryIsValid(t *testing.T) {
	w := startWatched(t)
	java(t, jdks[0], w.endpoint, "exchange", "com.acme.orders.Exchange", "3600") // ends with the test
	poll(t, "rules have results", func() bool {
		return len(w.prometheus.query(t, `job_lock:weft_saved:rate5m{job="exchange"}`)) > 0
	})
	queries := documentedQueries(t)
	for file, more := range dashboardQueries(t) {
		assert.Greater(t, len(more), 8, file)
		queries = append(queries, more...)
	}
	require.Greater(t, len(queries), 50)
	silent := slices.Clone(queries)
	poll(t, "most queries have a result while a program contends", func() bool { // a failed scrape leaves some empty for a while
		silent = slices.DeleteFunc(silent, func(query string) bool { return len(w.prometheus.query(t, query)) > 0 })
		return len(silent) < len(queries)/2
	})
	t.Logf("%d of %d queries have a result; these have none:\n%s", len(queries)-len(silent), len(queries), strings.Join(silent, "\n"))
}

func documentedQueries(t *testing.T) (queries []string) {
	t.Helper()
	cell := regexp.MustCompile("(?m)^\\|[^|]*\\|[^|]*`weft\\.[^|]*\\| `(.+?)`")
	for _, match := range cell.FindAllStringSubmatch(configText(t, "docs/metrics.md"), -1) {
		if !strings.Contains(match[1], "weft_") {
			continue // another product's metric, in the comparison table
		}
		queries = append(queries, strings.ReplaceAll(match[1], `\|`, "|"))
	}
	require.Greater(t, len(queries), 20)
	return queries
}

func dashboardQueries(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "config/grafana/weft-*.json"))
	require.NoError(t, err)
	chosen := strings.NewReplacer("$job", "exchange", "$instance", ".*", "$lock", "com.acme.orders.OrderBook", "$__rate_interval", "1m", "$__range", "5m")
	queries := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var dashboard struct {
			Panels []struct {
				Targets []struct {
					Expr string `json:"expr"`
				} `json:"targets"`
			} `json:"panels"`
		}
		require.NoError(t, json.Unmarshal(text, &dashboard))
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				queries[filepath.Base(file)] = append(queries[filepath.Base(file)], chosen.Replace(target.Expr))
			}
		}
	}
	return queries
}
