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

// startCollector starts one and waits until its health check says that it is ready, and until a signal would not just kill it: a collector listens
// for signals only after it is ready.
func startCollector(t *testing.T, s setup) *collector {
	t.Helper()
	c, health := launch(t, s)
	poll(t, "the collector is ready", func() bool {
		if !c.running() {
			t.Fatalf("the collector ended: %s", clip(strings.Join(c.errLines(), "\n")))
		}
		return answers(health) && c.catches(syscall.SIGINT) // it asks for SIGTERM together with it
	})
	return c
}

// catches reports whether a program that was started with the signal ignored has a handler for it now. SigCgt is a mask of signals, from 1 on.
func (p *process) catches(signal syscall.Signal) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)) // of a program that has ended there is none
	_, rest, _ := strings.Cut(string(status), "\nSigCgt:\t")
	mask, _, _ := strings.Cut(rest, "\n")
	caught, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && caught>>(signal-1)&1 == 1
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
	// Go's runtime catches all signals from the beginning, but for a SIGINT that is ignored: that one only when the program asks for it.
	ignoring := []string{"-c", `trap "" INT; exec "$0" "$@"`, built("weft-collector")}
	c.process = start(t, env, "/bin/sh", append(ignoring, args...)...)
	return c, health
}

// answers reports whether an address answers 200 over HTTP.
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
	var cuts map[string]int
	defer func() {
		if t.Failed() {
			t.Logf("windows of %s were cut by %v", service, cuts)
		}
	}()
	poll(t, "a window of "+service+" is cut by "+why, func() bool {
		cuts = c.spans(t).cuts(service)
		return cuts[why] > 0
	})
}

// terminate ends the collector as an operator would.
func (c *collector) terminate(t *testing.T) time.Duration {
	t.Helper()
	took := c.stop(t, syscall.SIGTERM)
	require.Equal(t, 0, c.wait(t), "exit code of the collector")
	return took
}

// patientOTLP keeps a collector from sending again what a busy server has taken, and has not said so yet.
const patientOTLP = "yaml:exporters::otlp_grpc::timeout: 10m"

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

// exchange runs the sample exchange until what was written of it shows something, as it does the sooner the less else the machine has to do.
func (c *collector) exchange(t *testing.T, what string, shown func(*output) bool) {
	t.Helper()
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3600")
	poll(t, what, func() bool {
		require.True(t, jvm.running(), "the exchange ended")
		return shown(c.spans(t))
	})
	jvm.stop(t, syscall.SIGTERM)
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
