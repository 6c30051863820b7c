// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// collector is a weft-collector that is ready.
type collector struct {
	*process
	endpoint string // for agents
	out      string // folder with spans.json
	page     string // address of the page
}

// setup is what can be said about a collector that a test starts; the zero value is config/all-in-one.yaml with windows of a second.
type setup struct {
	config   string   // file name in config, or a path
	more     []string // further configurations, as --config takes them
	endpoint string   // default: a new socket
	env      []string
}

// startCollector starts one and waits until its health check says that it is ready.
func startCollector(t *testing.T, s setup) *collector {
	t.Helper()
	c, health := launch(t, s)
	poll(t, "the collector is ready", func() bool {
		if !c.running() {
			t.Fatalf("the collector ended: %s", clip(strings.Join(c.errLines(), "\n")))
		}
		return answers(health)
	})
	return c
}

// launch starts a collector, which may not live long.
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
	health = freeAddress(t)
	_, metrics, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	c.page = freeAddress(t)
	env := append([]string{
		"WEFT_ENDPOINT=" + c.endpoint, "WEFT_OUT=" + c.out, "WEFT_WINDOW=1s", "WEFT_HEALTH=" + health, "WEFT_METRICS_PORT=" + metrics, "WEFT_PAGE=" + c.page,
	}, s.env...)
	c.process = start(t, env, built("weft-collector"), args...)
	return c, health
}

// answers reports whether an address answers 200 over HTTP.
func answers(address string) bool {
	client := http.Client{Timeout: time.Second}
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
	return readSpans(t, filepath.Join(c.out, "spans.json"))
}

// finish waits until the collector has written the last window of each service, ends it, and returns all that it wrote.
func (c *collector) finish(t *testing.T, services ...string) *output {
	t.Helper()
	for _, service := range services {
		c.waitForCut(t, service, "end")
	}
	c.terminate(t)
	return c.spans(t)
}

// waitForCut waits until the last window of a service has been written, which ended for that reason.
func (c *collector) waitForCut(t *testing.T, service, why string) {
	t.Helper()
	poll(t, "a window of "+service+" is cut by "+why, func() bool {
		return c.spans(t).cutBy(service, why)
	})
}

// terminate ends the collector as an operator would.
func (c *collector) terminate(t *testing.T) time.Duration {
	t.Helper()
	took := c.stop(t, syscall.SIGTERM)
	require.Equal(t, 0, c.wait(t), "exit code of the collector")
	return took
}

// everything gives the agent room and time for all that a program does, however busy the machine is.
const everything = ",pool=64m,exit-wait=60s"

// java starts a program under the agent. An endpoint file://PATH is a recording of the agent's own.
func java(t *testing.T, j jdk, endpoint, service string, command ...string) *process {
	t.Helper()
	to := "endpoint=" + endpoint
	if path, ok := strings.CutPrefix(endpoint, "file://"); ok {
		to = "file=" + path
	}
	args := append([]string{"-agentpath:" + built("libweft.so") + "=" + to + ",service=" + service + everything, "-cp", classes}, command...)
	return start(t, nil, filepath.Join(j.home, "bin", "java"), args...)
}

// runJava runs a program to its end and reads the truth that it tells in its last line.
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

// exists reports whether there is such a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
