// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// prometheus is a real Prometheus with the rules of this repository, connected to a real Alertmanager.
type prometheus struct {
	*process
	address string
	alerts  *mailbox
}

// startPrometheus starts both; Prometheus scrapes the addresses and evaluates the rules each second.
func startPrometheus(t *testing.T, scrapes ...string) *prometheus {
	t.Helper()
	dir := t.TempDir()
	p := &prometheus{address: freeAddress(t), alerts: openMailbox(t)}
	manager := freeAddress(t)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	managerConfig := write("alertmanager.yaml", fmt.Sprintf(`
route: {receiver: test, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers: [{name: test, webhook_configs: [{url: '%s', send_resolved: true}]}]
`, p.alerts.url))
	config := write("prometheus.yaml", fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: [%s, %s]
alerting: {alertmanagers: [{static_configs: [{targets: ['%s']}]}]}
scrape_configs:
- job_name: weft
  honor_labels: true
  static_configs: [{targets: ['%s']}]
  relabel_configs: [{source_labels: [__address__], target_label: collector}]
`, filepath.Join(root, "config/recording-rules.yaml"), write("alerts.yaml", impatient(t)), manager, strings.Join(scrapes, "', '")))
	am := start(t, nil, installed(t, "prometheus-alertmanager", "alertmanager"), "--config.file="+managerConfig,
		"--storage.path="+filepath.Join(dir, "am"), "--web.listen-address="+manager, "--cluster.listen-address=")
	p.process = start(t, nil, installed(t, "prometheus"), "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"),
		"--web.listen-address="+p.address, "--enable-feature=exemplar-storage,native-histograms", "--web.enable-remote-write-receiver")
	poll(t, "Prometheus and Alertmanager are ready", func() bool {
		require.True(t, am.running(), "Alertmanager ended: %s", strings.Join(am.errLines(), "\n"))
		require.True(t, p.running(), "Prometheus ended: %s", strings.Join(p.errLines(), "\n"))
		return answers(p.address+"/-/ready") && answers(manager+"/-/ready")
	})
	return p
}

// impatient returns config/alerts.yaml with alerts that resolve at once.
func impatient(t *testing.T) string {
	t.Helper()
	alerts := configText(t, "config/alerts.yaml")
	require.Contains(t, alerts, "keep_firing_for: 2m")
	return strings.ReplaceAll(alerts, "keep_firing_for: 2m", "keep_firing_for: 1s")
}

// vectorSample is one series of an instant query.
type vectorSample struct {
	Metric    map[string]string `json:"metric"`
	Value     []any             `json:"value"`     // time, text of the number
	Histogram []any             `json:"histogram"` // time, a native histogram
}

func (s vectorSample) number(t *testing.T) float64 {
	t.Helper()
	require.Len(t, s.Value, 2, "%v", s)
	text, ok := s.Value[1].(string)
	require.True(t, ok)
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}

// query evaluates an instant query.
func (p *prometheus) query(t *testing.T, promql string) []vectorSample {
	t.Helper()
	var answer struct {
		Data struct {
			Result []vectorSample `json:"result"`
		} `json:"data"`
	}
	p.get(t, "/api/v1/query", url.Values{"query": {promql}}, &answer)
	return answer.Data.Result
}

// value returns the result of a query; NaN and an empty result are not available yet.
func (p *prometheus) value(t *testing.T, promql string) (v float64, ok bool) {
	t.Helper()
	result := p.query(t, promql)
	require.LessOrEqual(t, len(result), 1, "%s has one result: %v", promql, result)
	if len(result) == 0 {
		return 0, false
	}
	return result[0].number(t), true
}

// number waits for the result of a query: after a failed scrape the result is empty until the next one.
func (p *prometheus) number(t *testing.T, promql string) (v float64) {
	t.Helper()
	poll(t, promql+" is there", func() (ok bool) {
		v, ok = p.value(t, promql)
		return ok
	})
	return v
}

func (p *prometheus) get(t *testing.T, path string, parameters url.Values, answer any) {
	t.Helper()
	response, err := http.Get("http://" + p.address + path + "?" + parameters.Encode())
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	decoder := json.NewDecoder(response.Body)
	require.NoError(t, decoder.Decode(answer), "%s %v", path, parameters)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s %v: %v", path, parameters, answer)
}

// alert is an alert in the format of Alertmanager's webhooks.
type alert struct {
	Status      string            `json:"status"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	at          time.Time         // time of delivery
}

// mailbox is a webhook that stores delivered alerts.
type mailbox struct {
	url string
	mu  sync.Mutex
	in  []alert
}

func openMailbox(t *testing.T) *mailbox {
	t.Helper()
	m := &mailbox{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct {
			Alerts []alert `json:"alerts"`
		}
		if json.NewDecoder(r.Body).Decode(&message) == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, a := range message.Alerts {
				a.at = time.Now()
				m.in = append(m.in, a)
			}
		}
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// find returns the first delivered alert of a name with a status: firing or resolved.
func (m *mailbox) find(name, status string, labels map[string]string) (alert, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
next:
	for _, a := range m.in {
		if a.Labels["alertname"] != name || a.Status != status {
			continue
		}
		for k, v := range labels {
			if a.Labels[k] != v {
				continue next
			}
		}
		return a, true
	}
	return alert{}, false
}
