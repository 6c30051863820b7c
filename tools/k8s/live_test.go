// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package k8s_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	recording = "exporter/threadlogexporter/testdata/cases/orca/want/orders_eu-01000000000000000000000000000000.orca"
	secret    = "correct horse"
)

// sessionOfSpans finds the session in the root of its window.
var sessionOfSpans = regexp.MustCompile(`"name":"threads: blocked"[^}]*\{"key":"weft\.session\.id","value":\{"stringValue":"([0-9a-f]{32})"`)

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// start runs the collector of a workload as its container does, with addresses of this machine.
func start(t *testing.T, r rendered, kind, name, changes string) {
	t.Helper()
	workload := r.find(t, kind, name)
	dir := mount(t, r, workload)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weft-page", "htpasswd"), []byte("ann:"+secret+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "local.yaml"), fmt.Appendf(nil, `
extensions: {health_check: {endpoint: "127.0.0.1:%d"}}
service: {telemetry: {metrics: {level: none}}}
`, freePort(t)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "changes.yaml"), []byte(changes), 0o600))
	command := collectorCommand(t, workload, dir)
	command.Args = append(command.Args, "--config="+dir+"/local.yaml", "--config="+dir+"/changes.yaml")
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	command.Stdout, command.Stderr = log, log
	require.NoError(t, command.Start())
	t.Cleanup(func() { stop(t, name, command, log) })
}

func stop(t *testing.T, name string, command *exec.Cmd, log *os.File) {
	t.Helper()
	_ = command.Process.Signal(syscall.SIGTERM)
	killed := time.AfterFunc(30*time.Second, func() { _ = command.Process.Kill() })
	_ = command.Wait()
	killed.Stop()
	if data, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
		t.Logf("log of %s:\n%s", name, data)
	}
}

// TestTiersWorkTogether runs the collectors of the mode both with their configurations: a recorded JVM reaches the backend's exporter, the
// metrics and the page, which demands credentials. If the page is away, the others get everything all the same.
func TestTiersWorkTogether(t *testing.T) {
	for _, withPage := range []bool{true, false} {
		t.Run(fmt.Sprintf("page=%t", withPage), func(t *testing.T) { checkTiers(t, withPage) })
	}
}

func checkTiers(t *testing.T, withPage bool) {
	t.Helper()
	gateway, pageIn, page, prometheus := freePort(t), freePort(t), freePort(t), freePort(t)
	spans := filepath.Join(t.TempDir(), "spans.json")
	source, err := filepath.Abs(filepath.Join(root, recording))
	require.NoError(t, err)
	r := render(t, "page-basic", "page: {tlsSecret: '', storage: {enabled: false}}")

	if withPage {
		start(t, r, "StatefulSet", "weft-page", fmt.Sprintf(`
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:%d"}}}}
exporters: {thread_view: {endpoint: "127.0.0.1:%d"}}
`, pageIn, page))
		require.Eventually(t, func() bool { return get(t, page, secret).status == http.StatusOK }, time.Minute, 50*time.Millisecond)
	}
	start(t, r, "Deployment", "weft-gateway", fmt.Sprintf(`
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:%d"}}}}
connectors: {contention: {metrics_flush_interval: 100ms}}
exporters:
  otlp_grpc/page: {endpoint: "127.0.0.1:%d"}
  prometheus: {endpoint: "127.0.0.1:%d"}
  file: {path: %q, flush_interval: 100ms}
service: {pipelines: {traces: {exporters: [file]}}}
`, gateway, pageIn, prometheus, spans))
	start(t, r, "DaemonSet", "weft-node", fmt.Sprintf(`
receivers: {jvm_thread/file: {protocols: {file: {include: [%q]}}}}
exporters: {load_balancing: {resolver: {dns: null, static: {hostnames: ["127.0.0.1:%d"]}}}}
service: {pipelines: {traces: {receivers: [jvm_thread/file]}}}
`, source, gateway))

	var session string
	require.Eventually(t, func() bool {
		data, _ := os.ReadFile(spans)
		if match := sessionOfSpans.FindSubmatch(data); match != nil {
			session = string(match[1])
		}
		return session != ""
	}, time.Minute, 50*time.Millisecond, "spans")
	require.Eventually(t, func() bool {
		return strings.Contains(fetch(t, fmt.Sprintf("http://127.0.0.1:%d/metrics", prometheus), "").body, "weft_lock_contentions_total")
	}, time.Minute, 50*time.Millisecond, "metrics")
	if !withPage {
		return
	}
	require.Eventually(t, func() bool { return strings.Contains(get(t, page, secret).body, session) }, time.Minute, 50*time.Millisecond, "page")
	assert.Equal(t, http.StatusUnauthorized, get(t, page, "").status)
	assert.Equal(t, http.StatusUnauthorized, get(t, page, "wrong").status)
}

type answer struct {
	status int
	body   string
}

func get(t *testing.T, port int, password string) answer {
	t.Helper()
	return fetch(t, fmt.Sprintf("http://127.0.0.1:%d/api/sessions", port), password)
}

// fetch returns no status while there is no connection.
func fetch(t *testing.T, url, password string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	if password != "" {
		request.SetBasicAuth("ann", password)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return answer{status: response.StatusCode, body: string(body)}
}
