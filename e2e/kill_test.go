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
	"strings"
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

// toBackend sends spans to the backend without a queue.
const toBackend = `
extensions:
  health_check: {endpoint: '${env:WEFT_HEALTH}'}
  thread_engine: {window: 2s}
processors:
  thread_span: {engine: thread_engine}
exporters:
  otlp_http: {traces_endpoint: %s, compression: none, sending_queue: {enabled: false}}
service:
  extensions: [health_check, thread_engine]
  telemetry: {metrics: {level: none}}
`

// durable is added to keep open windows.
func durable() string { return filepath.Join(root, "config", "durable.yaml") }

const alone = `
receivers:
  jvm_thread: {protocols: {stream: {endpoint: '${env:WEFT_ENDPOINT}'}}}
service:
  pipelines:
    traces: {receivers: [jvm_thread], processors: [thread_span], exporters: [otlp_http]}
`

// TestKilledCollectorLosesNothing kills the collector again and again, and each time starts the next one at once.
func TestKilledCollectorLosesNothing(t *testing.T) {
	restartAgain(t, syscall.SIGKILL, true)
}

// TestStoppedCollectorLosesNothing stops the collector again and again, with and without a storage for its windows.
func TestStoppedCollectorLosesNothing(t *testing.T) {
	t.Run("storage", func(t *testing.T) { restartAgain(t, syscall.SIGTERM, true) })
	t.Run("memory", func(t *testing.T) { restartAgain(t, syscall.SIGTERM, false) })
}

func restartAgain(t *testing.T, signal syscall.Signal, stored bool) {
	t.Helper()
	to := startBackend(t)
	dir := t.TempDir()
	single, sending := filepath.Join(dir, "alone.yaml"), filepath.Join(dir, "sending.yaml")
	require.NoError(t, os.WriteFile(single, []byte(alone), 0o600))
	require.NoError(t, os.WriteFile(sending, fmt.Appendf(nil, toBackend, to.URL), 0o600))
	s := setup{
		config: single, more: []string{sending}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(dir, "state")},
	}
	if stored {
		s.more = append(s.more, durable())
	}
	c := startCollector(t, s)
	agent, jvm := startAgent(t, s.endpoint, "killed"), java(t, jdks[0], s.endpoint, "idle", "Idle")
	for range killCount(t) {
		time.Sleep(killEvery) // the life of a collector
		c.stop(t, signal)
		c = startCollector(t, s)
	}
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
	events, length := agent.end(t)
	poll(t, "the sessions end", func() bool { return to.cuts("killed")["end"] > 0 && to.cuts("idle")["end"] > 0 })
	c.terminate(t)
	to.check(t, "killed", events, length)
	to.checkJVM(t, "idle")
}

const edge = `
extensions:
  health_check: {endpoint: '${env:WEFT_HEALTH}'}
  file_storage: {directory: '${env:WEFT_STATE}', create_directory: true}
receivers:
  jvm_thread: {protocols: {stream: {endpoint: '${env:WEFT_ENDPOINT}'}}}
exporters:
  load_balancing:
    routing_key: traceID
    resolver: {static: {hostnames: '${env:WEFT_GATEWAYS}'}}
    sending_queue: {enabled: true, num_consumers: 1, storage: file_storage}
    retry_on_failure: {enabled: true, initial_interval: 100ms, max_interval: 500ms}
    protocol:
      otlp: {sending_queue: {enabled: false}, retry_on_failure: {enabled: false}, timeout: 5s, tls: {insecure: true}}
service:
  extensions: [health_check, file_storage]
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [jvm_thread], exporters: [load_balancing]}
`

const gateway = `
receivers:
  otlp: {protocols: {grpc: {endpoint: '${env:WEFT_GATEWAY}'}}}
service:
  pipelines:
    traces: {receivers: [otlp], processors: [thread_span], exporters: [otlp_http]}
`

// TestKilledGatewaysLoseNothing kills an edge and its gateways in turn.
func TestKilledGatewaysLoseNothing(t *testing.T) {
	to := startBackend(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	addresses := []string{freeAddress(t), freeAddress(t)}
	setups := []setup{{
		config: file("edge.yaml", edge), endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(dir, "edge"), "WEFT_GATEWAYS=[" + strings.Join(addresses, ",") + "]"},
	}}
	for i, address := range addresses {
		setups = append(setups, setup{
			config: file("gateway.yaml", gateway), more: []string{file("sending.yaml", fmt.Sprintf(toBackend, to.URL)), durable()},
			env: []string{"WEFT_GATEWAY=" + address, "WEFT_STATE=" + filepath.Join(dir, fmt.Sprint("state", i))},
		})
	}
	running := make([]*collector, len(setups))
	for i := range setups {
		running[len(setups)-1-i] = startCollector(t, setups[len(setups)-1-i])
	}
	agent, jvm := startAgent(t, setups[0].endpoint, "killed"), java(t, jdks[0], setups[0].endpoint, "idle", "Idle")
	for n := range killCount(t) {
		time.Sleep(killEvery) // the life of a collector
		i := n % len(setups)
		running[i].stop(t, syscall.SIGKILL)
		running[i] = startCollector(t, setups[i])
	}
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
	events, length := agent.end(t)
	poll(t, "the sessions end", func() bool { return to.cuts("killed")["end"] > 0 && to.cuts("idle")["end"] > 0 })
	for _, c := range running {
		c.terminate(t)
	}
	to.check(t, "killed", events, length)
	to.checkJVM(t, "idle")
}

// checkJVM checks what is known of a JVM that does not count its events.
func (b *backend) checkJVM(t *testing.T, service string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, root := range b.got.roots(service) {
		assert.Zero(t, root.number("weft.events.missed"))
		assert.Zero(t, root.number("weft.events.lost"))
	}
	assert.Equal(t, 1, b.got.cuts(service)["end"], "the session ends once: %v", b.got.cuts(service))
	assert.Zero(t, b.got.cuts(service)["lost"])
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
	for _, s := range b.got.twice {
		first := b.got.byID[s.id()]
		assert.Fail(t, "a span came twice", "%s: %s of trace %s at %d, and %s of trace %s at %d", s.service, first.Name(), first.TraceID(),
			first.StartTimestamp(), s.Name(), s.TraceID(), s.StartTimestamp())
	}
	assert.Equal(t, 1, b.got.cuts(service)["end"])
}
