// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/weft-otel/weft/internal/threadtest"
)

// kills is how often collectors are killed, and killEvery how often. WEFT_KILLS=100 is for the soak test.
const (
	kills     = 4
	killEvery = 3 * time.Second
)

func killCount(t *testing.T) int {
	t.Helper()
	text := os.Getenv("WEFT_KILLS")
	if text == "" {
		return kills
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "WEFT_KILLS")
	return n
}

// backend accepts spans by OTLP and confirms them when it has them.
type backend struct {
	*httptest.Server

	mu  sync.Mutex
	got *output
}

func startBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{got: newOutput()}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		request := ptraceotlp.NewExportRequest()
		if err == nil {
			err = request.UnmarshalProto(data)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.got.add(request.Traces())
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(nil)
	}))
	t.Cleanup(b.Close)
	return b
}

func (b *backend) cuts(service string) map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.cuts(service)
}

// keptSpans sends spans to the backend without a queue, and keeps open windows in a folder.
const keptSpans = `
extensions:
  file_storage: {directory: %[1]s, create_directory: true}
exporters:
  otlp_http: {traces_endpoint: %[2]s, compression: none, sending_queue: {enabled: false}}
processors:
  thread_span: {storage: file_storage}
service:
  extensions: [health_check, file_storage]
  telemetry: {metrics: {level: none}}
`

const alone = `
extensions:
  health_check: {endpoint: '${env:WEFT_HEALTH}'}
receivers:
  jvm_thread: {protocols: {stream: {endpoint: '${env:WEFT_ENDPOINT}'}}}
processors:
  thread_span: {window: 2s}
service:
  pipelines:
    traces: {receivers: [jvm_thread], processors: [thread_span], exporters: [otlp_http]}
`

// TestKilledCollectorLosesNothing kills the collector again and again, and each time starts the next one at once.
func TestKilledCollectorLosesNothing(t *testing.T) {
	to := startBackend(t)
	dir := t.TempDir()
	single, kept := filepath.Join(dir, "alone.yaml"), filepath.Join(dir, "kept.yaml")
	require.NoError(t, os.WriteFile(single, []byte(alone), 0o600))
	require.NoError(t, os.WriteFile(kept, fmt.Appendf(nil, keptSpans, filepath.Join(dir, "state"), to.URL), 0o600))
	s := setup{config: single, more: []string{kept}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock")}
	c := startCollector(t, s)
	agent := startAgent(t, s.endpoint, "killed")
	for range killCount(t) {
		time.Sleep(killEvery) // the life of a collector
		c.stop(t, syscall.SIGKILL)
		c = startCollector(t, s)
	}
	events, length := agent.end(t)
	poll(t, "the session ends", func() bool { return to.cuts("killed")["end"] > 0 })
	c.terminate(t)
	to.check(t, "killed", events, length)
}

// check compares what has arrived with what the agent knows.
func (b *backend) check(t *testing.T, service string, events uint64, length time.Duration) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	type span struct{ from, to int64 }
	var counted, missed, lost int64
	var windows []span
	for _, root := range b.got.roots(service) {
		counted += root.number("weft.events.count")
		missed += root.number("weft.events.missed")
		lost += root.number("weft.events.lost")
		windows = append(windows, span{root.number("weft.window.start"), int64(root.EndTimestamp())})
	}
	slices.SortFunc(windows, func(a, b span) int { return int(a.from - b.from) })
	covered, end := int64(0), int64(0)
	for _, w := range windows {
		covered += max(0, w.to-max(w.from, end))
		end = max(end, w.to)
	}
	share := float64(covered) / float64(length)
	t.Logf("%d events in %v; in %d windows: %d events, %d missed, %d lost, %.1f %% of the time; %d spans came twice; cuts %v",
		events, length, len(windows), counted, missed, lost, 100*share, len(b.got.twice), b.got.cuts(service))
	assert.EqualValues(t, events, counted, "events in windows")
	assert.Zero(t, missed)
	assert.Zero(t, lost)
	assert.GreaterOrEqual(t, share, 0.95, "windows cover the time")
	assert.Empty(t, b.got.twice, "spans came twice")
	assert.Equal(t, 1, b.got.cuts(service)["end"])
}
