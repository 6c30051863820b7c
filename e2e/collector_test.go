// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest"
)

// collector is a weft-collector that is ready.
type collector struct {
	*process
	endpoint string // for agents
	out      string // folder with spans.json
	page     string // address of the page
}

// setup configures a collector for a test; the zero value is config/all-in-one.yaml with windows of a second.
type setup struct {
	config   string   // file name in config, or a path
	more     []string // further configurations, as --config takes them
	engine   []string // options of the engine: KEY: VALUE
	endpoint string   // default: a new socket
	env      []string
	gates    string // feature gates to enable
}

// startCollector starts a collector and waits until its health check succeeds and it handles signals, which happens later.
func startCollector(t *testing.T, s setup) *collector {
	t.Helper()
	c, health := launch(t, s)
	poll(t, "the collector is ready", func() bool {
		if !c.running() {
			t.Fatalf("the collector ended: %s", clip(strings.Join(c.errLines(), "\n")))
		}
		return answers(health) && c.catches(syscall.SIGINT) // SIGTERM is handled from the same moment on
	})
	return c
}

// catches reports whether a program that was started with the signal ignored handles it now. SigCgt is a bit mask, starting with signal 1.
func (p *process) catches(signal syscall.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)) // missing if the program has ended
	_, rest, _ := strings.Cut(string(status), "\nSigCgt:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	caught, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && caught>>(signal-1)&1 == 1
}

// launch starts a collector without waiting for it.
func launch(t *testing.T, s setup) (c *collector, health string) {
	t.Helper()
	dir := threadtest.SocketDir(t)
	c = &collector{endpoint: s.endpoint, out: dir}
	if c.endpoint == "" {
		c.endpoint = "unix://" + filepath.Join(dir, "weft.sock")
	}
	if s.config == "" {
		s.config = "all-in-one.yaml"
	}
	if !filepath.IsAbs(s.config) {
		s.config = filepath.Join(root, "config", s.config)
	}
	args := []string{"--config", s.config}
	for _, more := range s.more {
		args = append(args, "--config", more)
	}
	if s.gates != "" {
		args = append(args, "--feature-gates", s.gates)
	}
	owner := "extensions::thread_engine"
	if text, err := os.ReadFile(s.config); err == nil && !strings.Contains(string(text), "thread_engine") {
		owner = "processors::thread_span"
	}
	for _, option := range s.engine {
		args = append(args, "--config", "yaml:"+owner+"::"+option)
	}
	health = freeAddress(t)
	_, metrics, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	c.page = freeAddress(t)
	env := append([]string{
		"WEFT_ENDPOINT=" + c.endpoint, "WEFT_OUT=" + c.out, "WEFT_WINDOW=1s", "WEFT_HEALTH=" + health, "WEFT_METRICS_PORT=" + metrics, "WEFT_PAGE=" + c.page,
	}, s.env...)
	// Go's runtime handles all signals from the start, except an ignored SIGINT, which it handles only on request of the program.
	ignoring := []string{"-c", `trap "" INT; exec "$0" "$@"`, built("weft-collector")}
	c.process = start(t, env, "/bin/sh", append(ignoring, args...)...)
	return c, health
}

// answers reports whether a GET request of the address returns 200.
func answers(address string) bool {
	client := http.Client{Timeout: time.Minute}
	response, err := client.Get("http://" + address)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// spans returns what the collector has written so far.
func (c *collector) spans(t *testing.T) *output {
	t.Helper()
	return spantest.Read(t, filepath.Join(c.out, "spans.json"))
}

// finish waits until the collector has written the last window of each service, stops it, and returns all its output.
func (c *collector) finish(t *testing.T, services ...string) *output {
	t.Helper()
	for _, service := range services {
		c.waitForCut(t, service, "end")
	}
	c.terminate(t)
	return c.spans(t)
}

// waitForCut waits until a window of the service that was cut for the given reason has been written.
func (c *collector) waitForCut(t *testing.T, service, why string) {
	t.Helper()
	var cuts map[string]int
	defer func() {
		if t.Failed() {
			t.Logf("windows of %s were cut by %v", service, cuts)
		}
	}()
	poll(t, "a window of "+service+" is cut by "+why, func() bool {
		cuts = c.spans(t).Cuts(service)
		return cuts[why] > 0
	})
}

// terminate stops the collector as an operator would.
func (c *collector) terminate(t *testing.T) time.Duration {
	t.Helper()
	took := c.stop(t, syscall.SIGTERM)
	require.Equal(t, 0, c.wait(t), "exit code of the collector")
	return took
}

// patientOTLP keeps a collector from resending data that a busy server has accepted but not yet acknowledged.
const patientOTLP = "yaml:exporters::otlp_grpc::timeout: 10m"

// everything gives the agent enough buffers and time for all events of a program, however busy the machine is.
const everything = ",pool=64m,exit-wait=60s"

// java starts a program under the agent. With an endpoint file://PATH the agent writes a recording.
func java(t *testing.T, j jdk, endpoint, service string, command ...string) *process {
	t.Helper()
	to := "endpoint=" + endpoint
	if path, ok := strings.CutPrefix(endpoint, "file://"); ok {
		to = "file=" + path
	}
	args := append([]string{"-agentpath:" + built("libweft.so") + "=" + to + ",service=" + service + everything, "-cp", classes}, command...)
	return start(t, nil, filepath.Join(j.Home, "bin", "java"), args...)
}

// exchange runs the sample exchange until its output meets a condition.
func (c *collector) exchange(t *testing.T, what string, shown func(*output) bool) {
	t.Helper()
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3600")
	poll(t, what, func() bool {
		require.True(t, jvm.running(), "the exchange ended")
		return shown(c.spans(t))
	})
	jvm.stop(t, syscall.SIGTERM)
}

// runJava runs a program to its end and decodes the truth that it prints in its last line.
func runJava(t *testing.T, j jdk, endpoint, service string, truth any, command ...string) {
	t.Helper()
	p := java(t, j, endpoint, service, command...)
	require.Equal(t, 0, p.wait(t), "exit code of %v", command)
	require.Len(t, p.outLines(), 1, "the agent writes nothing to the program's standard output")
	require.Empty(t, p.errLines(), "the agent writes nothing to the program's standard error")
	p.truth(t, truth)
}

// truth reads the last line that a program printed.
func (p *process) truth(t *testing.T, truth any) {
	t.Helper()
	lines := p.outLines()
	require.NotEmpty(t, lines)
	last := lines[len(lines)-1]
	require.NoError(t, json.Unmarshal([]byte(last), truth), last)
}

// exists reports whether the file exists.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
